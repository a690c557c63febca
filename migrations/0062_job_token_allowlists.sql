-- Whether only the jobs of listed projects use a project by their tokens.
alter table projects add column inbound_job_token_scope_enabled boolean not null default true;

-- The projects, and the groups with all that is in them, whose jobs use another project by their tokens.
create table job_token_allowlist (
  id bigint generated always as identity primary key,
  -- The one that is used.
  project_id bigint not null references projects (id) on delete cascade,
  allowed_project_id bigint references projects (id) on delete cascade,
  allowed_namespace_id bigint references namespaces (id) on delete cascade,
  created_at timestamptz (3) not null,
  check (num_nonnulls(allowed_project_id, allowed_namespace_id) = 1),
  unique (project_id, allowed_project_id),
  unique (project_id, allowed_namespace_id)
);
create index job_token_allowlist_project on job_token_allowlist (allowed_project_id) where allowed_project_id is not null;
create index job_token_allowlist_namespace on job_token_allowlist (allowed_namespace_id) where allowed_namespace_id is not null;
