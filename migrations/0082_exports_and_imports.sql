-- Archives of projects and groups, and what is made of archives.
create table exports (
  id bigint generated always as identity primary key,
  project_id bigint references projects on delete cascade,
  namespace_id bigint references namespaces on delete cascade,
  -- Who asked for it, and is told.
  user_id bigint references users on delete set null,
  status text not null check (status in ('queued', 'started', 'finished', 'failed')),
  -- Where it is sent to when it is made.
  upload_sealed text,
  filename text,
  sha256 bytea references blobs,
  size bigint,
  error text,
  created_at timestamp(3) with time zone not null,
  finished_at timestamp(3) with time zone,
  check (num_nonnulls(project_id, namespace_id) = 1)
);
-- One at a time is made of a project or group, and one is kept.
create unique index exports_of_project on exports (project_id, (status in ('queued', 'started'))) where project_id is not null;
create unique index exports_of_group on exports (namespace_id, (status in ('queued', 'started'))) where namespace_id is not null;
create index exports_user on exports (user_id);
create index exports_blob on exports (sha256) where sha256 is not null;
create index exports_finished on exports (finished_at) where finished_at is not null;

create table imports (
  id bigint generated always as identity primary key,
  project_id bigint references projects on delete cascade,
  namespace_id bigint references namespaces on delete cascade,
  user_id bigint references users on delete set null,
  -- Of one relation of a project that is there already.
  relation text,
  status text not null check (status in ('scheduled', 'started', 'finished', 'failed')),
  correlation_id text not null,
  -- The archive, until it is over.
  sha256 bytea references blobs,
  -- What the request says in place of the archive.
  options jsonb not null,
  -- Names in the archive that this version does not read.
  passed_over text[] not null default '{}',
  error text,
  created_at timestamp(3) with time zone not null,
  updated_at timestamp(3) with time zone not null,
  check (num_nonnulls(project_id, namespace_id) = 1)
);
create index imports_project on imports (project_id, id) where project_id is not null;
create index imports_group on imports (namespace_id, id) where namespace_id is not null;
create unique index imports_unfinished on imports (project_id) where status in ('scheduled', 'started') and project_id is not null;
create index imports_user on imports (user_id);
create index imports_blob on imports (sha256) where sha256 is not null;

create table import_failures (
  id bigint generated always as identity primary key,
  import_id bigint not null references imports on delete cascade,
  relation text not null,
  line integer,
  message text not null,
  created_at timestamp(3) with time zone not null
);
create index import_failures_import on import_failures (import_id, id);
