-- Variables for the jobs of a project, of a group and all below it and, where both are null, of the instance.
create table ci_variables (
  id bigint generated always as identity primary key,
  project_id bigint references projects (id) on delete cascade,
  namespace_id bigint references namespaces (id) on delete cascade,
  key text collate "C" not null,
  value_sealed text not null,
  variable_type text not null check (variable_type in ('env_var', 'file')),
  -- Only for jobs of protected refs.
  protected boolean not null,
  -- Kept out of logs.
  masked boolean not null,
  -- No record shows its value.
  hidden boolean not null,
  -- References to other variables in it stay as they are.
  raw boolean not null,
  -- Of environments, with `*` for any characters.
  environment_scope text collate "C" not null,
  description text,
  created_at timestamptz (3) not null,
  updated_at timestamptz (3) not null,
  check (project_id is null or namespace_id is null),
  check (masked or not hidden)
);
create unique index ci_variables_project on ci_variables (project_id, key, environment_scope) where project_id is not null;
create unique index ci_variables_namespace on ci_variables (namespace_id, key, environment_scope)
  where namespace_id is not null;
create unique index ci_variables_instance on ci_variables (key) where project_id is null and namespace_id is null;
create index ci_variables_project_id on ci_variables (project_id, id) where project_id is not null;
create index ci_variables_namespace_id on ci_variables (namespace_id, id) where namespace_id is not null;
