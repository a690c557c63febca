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

-- Groups and projects that are fetched from another instance.
create table bulk_imports (
  id bigint generated always as identity primary key,
  user_id bigint not null references users on delete cascade,
  source_url text not null,
  -- Until it is over.
  token_sealed text,
  status text not null check (status in ('created', 'started', 'finished', 'timeout', 'failed', 'canceled')),
  created_at timestamp(3) with time zone not null,
  updated_at timestamp(3) with time zone not null
);
create index bulk_imports_user on bulk_imports (user_id, id);

create table bulk_import_entities (
  id bigint generated always as identity primary key,
  bulk_import_id bigint not null references bulk_imports on delete cascade,
  parent_id bigint references bulk_import_entities on delete cascade,
  source_type text not null check (source_type in ('group_entity', 'project_entity')),
  source_full_path text not null,
  destination_slug text not null,
  destination_namespace text not null,
  migrate_projects boolean not null,
  migrate_memberships boolean not null,
  status text not null check (status in ('created', 'started', 'finished', 'timeout', 'failed', 'canceled')),
  -- What is done next.
  step text not null check (step in ('export', 'wait', 'import')),
  -- The export that the source had before.
  source_etag text,
  project_id bigint references projects on delete set null,
  namespace_id bigint references namespaces on delete set null,
  error text,
  created_at timestamp(3) with time zone not null,
  updated_at timestamp(3) with time zone not null
);
create index bulk_import_entities_import on bulk_import_entities (bulk_import_id, id);
create index bulk_import_entities_parent on bulk_import_entities (parent_id) where parent_id is not null;
create index bulk_import_entities_project on bulk_import_entities (project_id) where project_id is not null;
create index bulk_import_entities_namespace on bulk_import_entities (namespace_id) where namespace_id is not null;
