-- Repositories of images are deleted in the background: their names are free at once.
alter table container_repositories
  add column status text check (status in ('delete_scheduled', 'delete_ongoing')),
  add column cleanup_policy_started_at timestamptz (3),
  -- When tags were last deleted by patterns: once an hour.
  add column tags_deleted_at timestamptz (3);
drop index container_repositories_name;
create unique index container_repositories_name on container_repositories (project_id, name) where status is null;
create index container_repositories_project on container_repositories (project_id, id);
create index container_repositories_deleted on container_repositories (id) where status is not null;

-- The newest tags, as deletions by patterns count them.
create index container_tags_updated on container_tags (repository_id, updated_at, id);

-- Since when nothing leads to it, as the nightly sweep found.
alter table container_manifests add column unneeded_since timestamptz (3);
create index container_manifests_unneeded on container_manifests (id) where unneeded_since is not null;

create table container_repository_protection_rules (
  id bigint generated always as identity primary key,
  project_id bigint not null references projects (id) on delete cascade,
  -- What follows the project's path, which may change.
  below_project text collate "C" not null,
  push_level smallint,
  delete_level smallint,
  created_at timestamptz (3) not null,
  updated_at timestamptz (3) not null,
  check (num_nonnulls(push_level, delete_level) > 0)
);
create unique index container_repository_protection_rules_pattern
  on container_repository_protection_rules (project_id, below_project);

create table container_tag_protection_rules (
  id bigint generated always as identity primary key,
  project_id bigint not null references projects (id) on delete cascade,
  tag_name_pattern text collate "C" not null,
  -- Without levels, tags that match never change.
  push_level smallint,
  delete_level smallint,
  created_at timestamptz (3) not null,
  updated_at timestamptz (3) not null,
  check (num_nonnulls(push_level, delete_level) <> 1)
);
create unique index container_tag_protection_rules_pattern
  on container_tag_protection_rules (project_id, tag_name_pattern);

-- Projects whose expiration policies run.
create index projects_container_expiration on projects (
    ((settings -> 'container_expiration_policy' ->> 'next_run_at') collate "C"), id)
  where (settings -> 'container_expiration_policy' -> 'enabled') = 'true';
