-- Repositories, what protects and describes them, snippets, wikis, and moves between storages.

-- The processes on this database, by their heartbeat: what a dead one held, others take over. Logged as all tables are: a
-- crash of the database is survived by the processes, and what they hold must survive it too.
create table processes (
  id uuid primary key,
  beat_at timestamptz(3) not null
);

-- What holds repositories: a project its own and its wiki's, a snippet its own, a group its wiki's. All of one container
-- are in one storage, and move together. The storage and the read-only mark are in the container's row.
alter table projects
  add column repository_read_only boolean not null default false,
  -- Until there is a branch.
  add column empty_repo boolean not null default true;

create table group_wikis (
  id bigint primary key references namespaces (id) on delete cascade,
  repository_storage text not null,
  repository_read_only boolean not null default false,
  created_at timestamptz(3) not null,
  updated_at timestamptz(3) not null
);
create index group_wikis_storage on group_wikis (repository_storage, id);

create table snippets (
  id bigint generated always as identity primary key,
  project_id bigint references projects (id) on delete cascade,
  author_id bigint not null,
  title text not null,
  description text,
  visibility smallint not null check (visibility in (0, 10, 20)),
  -- The paths of its files, in order; the first is the deprecated file_name.
  files text[] not null default '{}',
  -- The branch that they are on, named when it was made.
  default_branch text not null default 'main',
  repository_storage text not null,
  repository_read_only boolean not null default false,
  -- Its files are in its repository: until then nobody sees it.
  ready boolean not null default false,
  -- For who looks into what was reported as spam.
  user_agent text,
  ip_address text,
  created_at timestamptz(3) not null,
  updated_at timestamptz(3) not null
);
create index snippets_author on snippets (author_id, id);
create index snippets_project on snippets (project_id, id) where project_id is not null;
create index snippets_public on snippets (id) where visibility = 20 and project_id is null;
create index snippets_storage on snippets (repository_storage, id);
create index snippets_unready on snippets (created_at) where not ready;

-- The repositories that there are on disk: made with the first write.
create table repositories (
  id bigint generated always as identity primary key,
  container text not null check (container in ('project', 'snippet', 'group')),
  container_id bigint not null,
  wiki boolean not null,
  -- Writes since it was last repacked, and how many of them there were when it was last measured.
  writes integer not null default 0,
  measured_writes integer not null default 0,
  size bigint not null default 0,
  commit_count bigint not null default 0,
  tended_at timestamptz(3),
  -- When all of it was repacked into one, and what nothing points to any more went.
  packed_at timestamptz(3),
  created_at timestamptz(3) not null
);
create unique index repositories_container on repositories (container, container_id, wiki);
create index repositories_writes on repositories (writes) where writes > 0;

-- Who uses a container's repositories now: writers are waited for before a copy, readers before the old one goes.
create table repository_uses (
  id bigint generated always as identity primary key,
  process_id uuid not null references processes (id) on delete cascade,
  container text not null,
  container_id bigint not null,
  storage text not null,
  purpose text not null check (purpose in ('read', 'write', 'tend')),
  began_at timestamptz(3) not null
);
create index repository_uses_container on repository_uses (container, container_id);
create index repository_uses_process on repository_uses (process_id);

-- Folders that nothing points to any more: removed after the commit.
create table repository_removals (
  id bigint generated always as identity primary key,
  storage text not null,
  folder text not null,
  created_at timestamptz(3) not null
);

create table storage_moves (
  id bigint generated always as identity primary key,
  container text not null check (container in ('project', 'snippet', 'group')),
  container_id bigint not null,
  -- The public API's names.
  state text not null check (state in
    ('initial', 'scheduled', 'started', 'finished', 'failed', 'replicated', 'cleanup failed')),
  source_storage_name text not null,
  destination_storage_name text not null,
  error_message text,
  -- Whose it is while it runs.
  process_id uuid,
  created_at timestamptz(3) not null,
  updated_at timestamptz(3) not null
);
create index storage_moves_container on storage_moves (container, container_id, id);
create index storage_moves_list on storage_moves (container, created_at, id);
create index storage_moves_open on storage_moves (id) where state in ('scheduled', 'started', 'replicated');

create table wiki_pages (
  id bigint generated always as identity primary key,
  project_id bigint references projects (id) on delete cascade,
  group_id bigint references namespaces (id) on delete cascade,
  slug text collate "C" not null,
  title text not null,
  created_at timestamptz(3) not null,
  check (num_nonnulls(project_id, group_id) = 1)
);
create unique index wiki_pages_project on wiki_pages (project_id, slug) where project_id is not null;
create unique index wiki_pages_group on wiki_pages (group_id, slug) where group_id is not null;

create table protected_branches (
  id bigint generated always as identity primary key,
  project_id bigint not null references projects (id) on delete cascade,
  name text collate "C" not null,
  allow_force_push boolean not null default false,
  code_owner_approval_required boolean not null default false,
  created_at timestamptz(3) not null,
  updated_at timestamptz(3) not null
);
create unique index protected_branches_name on protected_branches (project_id, name);

create table protected_tags (
  id bigint generated always as identity primary key,
  project_id bigint not null references projects (id) on delete cascade,
  name text collate "C" not null,
  created_at timestamptz(3) not null,
  updated_at timestamptz(3) not null
);
create unique index protected_tags_name on protected_tags (project_id, name);

-- Who may do what to protected refs: a level, a user, a group or a deploy key.
create table protected_ref_access (
  id bigint generated always as identity primary key,
  protected_branch_id bigint references protected_branches (id) on delete cascade,
  protected_tag_id bigint references protected_tags (id) on delete cascade,
  action text not null check (action in ('push', 'merge', 'unprotect', 'create')),
  access_level smallint check (access_level in (0, 30, 40, 60)),
  user_id bigint references users (id) on delete cascade,
  group_id bigint references namespaces (id) on delete cascade,
  deploy_key_id bigint,
  created_at timestamptz(3) not null,
  check (num_nonnulls(protected_branch_id, protected_tag_id) = 1),
  check (num_nonnulls(access_level, user_id, group_id, deploy_key_id) = 1)
);
create index protected_ref_access_branch on protected_ref_access (protected_branch_id);
create index protected_ref_access_tag on protected_ref_access (protected_tag_id);
create index protected_ref_access_user on protected_ref_access (user_id) where user_id is not null;
create index protected_ref_access_group on protected_ref_access (group_id) where group_id is not null;

create table deploy_keys (
  id bigint generated always as identity primary key,
  user_id bigint,
  title text not null,
  key text not null,
  fingerprint text not null,
  fingerprint_sha256 text collate "C" not null,
  -- Any project may enable it.
  public boolean not null default false,
  expires_at timestamptz(3),
  last_used_at timestamptz(3),
  created_at timestamptz(3) not null,
  updated_at timestamptz(3) not null
);
create unique index deploy_keys_fingerprint on deploy_keys (fingerprint_sha256);
create index deploy_keys_user on deploy_keys (user_id);
alter table protected_ref_access
  add constraint protected_ref_access_deploy_key foreign key (deploy_key_id) references deploy_keys (id) on delete cascade;
create index protected_ref_access_deploy_key on protected_ref_access (deploy_key_id) where deploy_key_id is not null;

create table deploy_keys_projects (
  deploy_key_id bigint not null references deploy_keys (id) on delete cascade,
  project_id bigint not null references projects (id) on delete cascade,
  can_push boolean not null default false,
  created_at timestamptz(3) not null,
  primary key (deploy_key_id, project_id)
);
create index deploy_keys_projects_project on deploy_keys_projects (project_id, deploy_key_id);

-- What other programs say of a commit; those of one commit and ref are one pipeline.
create table external_pipelines (
  id bigint generated always as identity primary key,
  project_id bigint not null references projects (id) on delete cascade,
  sha text collate "C" not null,
  ref text not null,
  created_at timestamptz(3) not null
);
create unique index external_pipelines_commit on external_pipelines (project_id, sha, ref);

create table commit_statuses (
  id bigint generated always as identity primary key,
  pipeline_id bigint not null references external_pipelines (id) on delete cascade,
  project_id bigint not null references projects (id) on delete cascade,
  sha text collate "C" not null,
  ref text not null,
  name text collate "C" not null,
  status text not null check (status in ('pending', 'running', 'success', 'failed', 'canceled', 'skipped')),
  target_url text,
  description text,
  coverage double precision,
  allow_failure boolean not null default false,
  author_id bigint not null,
  created_at timestamptz(3) not null,
  started_at timestamptz(3),
  finished_at timestamptz(3),
  updated_at timestamptz(3) not null
);
create unique index commit_statuses_name on commit_statuses (pipeline_id, name);
create index commit_statuses_commit on commit_statuses (project_id, sha, id);
create index commit_statuses_author on commit_statuses (author_id);

create table commit_comments (
  id bigint generated always as identity primary key,
  project_id bigint not null references projects (id) on delete cascade,
  sha text collate "C" not null,
  author_id bigint not null,
  note text not null,
  path text,
  line integer,
  line_type text check (line_type in ('new', 'old')),
  created_at timestamptz(3) not null,
  updated_at timestamptz(3) not null
);
create index commit_comments_commit on commit_comments (project_id, sha, id);
create index commit_comments_author on commit_comments (author_id);
