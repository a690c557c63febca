-- Single relations of projects and groups as files of lines, as another instance fetches them.
create table relation_exports (
  id bigint generated always as identity primary key,
  project_id bigint references projects on delete cascade,
  namespace_id bigint references namespaces on delete cascade,
  user_id bigint references users on delete set null,
  relation text collate "C" not null,
  status text not null check (status in ('started', 'finished', 'failed')),
  sha256 bytea references blobs,
  objects integer not null default 0,
  error text,
  updated_at timestamp(3) with time zone not null,
  check (num_nonnulls(project_id, namespace_id) = 1)
);
create unique index relation_exports_of_project on relation_exports (project_id, relation) where project_id is not null;
create unique index relation_exports_of_group on relation_exports (namespace_id, relation) where namespace_id is not null;
create index relation_exports_user on relation_exports (user_id);
create index relation_exports_blob on relation_exports (sha256) where sha256 is not null;
create index relation_exports_updated on relation_exports (updated_at);
