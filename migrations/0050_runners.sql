-- Programs that will run jobs: of the instance, of a group and all below it, or of projects.
create table runners (
  id bigint generated always as identity primary key,
  runner_type text not null check (runner_type in ('instance_type', 'group_type', 'project_type')),
  -- The group, of the runner of a group; those of projects are in runner_projects.
  namespace_id bigint references namespaces (id) on delete cascade,
  -- Requests of the runner are recognised by it; the token itself is shown once.
  digest bytea not null unique,
  token_expires_at timestamptz (3),
  -- Who made it; null for one that registered itself.
  creator_id bigint references users (id) on delete set null,
  registration_type text not null check (registration_type in ('registration_token', 'authenticated_user')),
  -- The program that registered itself, by its own word.
  program text,
  description text,
  maintenance_note text,
  paused boolean not null,
  -- Other projects cannot have it.
  locked boolean not null,
  run_untagged boolean not null,
  tag_list text[] not null,
  access_level text not null check (access_level in ('not_protected', 'ref_protected')),
  -- Of a job, in seconds.
  maximum_timeout integer,
  -- The latest of its managers, written now and then.
  contacted_at timestamptz (3),
  created_at timestamptz (3) not null,
  updated_at timestamptz (3) not null,
  check ((runner_type = 'group_type') = (namespace_id is not null))
);
create index runners_namespace on runners (namespace_id, id) where namespace_id is not null;
create index runners_instance on runners (id) where runner_type = 'instance_type';
create index runners_creator on runners (creator_id) where creator_id is not null;

-- Projects that have a runner. The first of a runner owns it; without any it is an orphan.
create table runner_projects (
  id bigint generated always as identity primary key,
  runner_id bigint not null references runners (id) on delete cascade,
  project_id bigint not null references projects (id) on delete cascade,
  created_at timestamptz (3) not null,
  constraint runner_projects_once unique (runner_id, project_id)
);
create index runner_projects_project on runner_projects (project_id, runner_id);

-- Processes that use the token of a runner, each by the name that it gives itself.
create table runner_managers (
  id bigint generated always as identity primary key,
  runner_id bigint not null references runners (id) on delete cascade,
  system_xid text collate "C" not null,
  version text,
  revision text,
  platform text,
  architecture text,
  executor text,
  -- What it is able to do, by the names of the protocol; true or false.
  features jsonb not null,
  gpus text,
  ip_address text not null,
  -- The last request for jobs, written now and then.
  contacted_at timestamptz (3),
  created_at timestamptz (3) not null,
  constraint runner_managers_once unique (runner_id, system_xid)
);

-- Tokens with which runners register themselves: of a project, of a group or, where both are null, of the instance.
create table runner_registration_tokens (
  id bigint generated always as identity primary key,
  project_id bigint references projects (id) on delete cascade,
  namespace_id bigint references namespaces (id) on delete cascade,
  digest bytea not null unique,
  created_at timestamptz (3) not null,
  check (project_id is null or namespace_id is null)
);
-- One each.
create unique index runner_registration_tokens_home on runner_registration_tokens (project_id, namespace_id) nulls not distinct;
create index runner_registration_tokens_namespace on runner_registration_tokens (namespace_id) where namespace_id is not null;
