-- Integrations with other services: of a project, or of a group and all below it that has none of its own.
create table integrations (
  id bigint generated always as identity primary key,
  project_id bigint references projects (id) on delete cascade,
  namespace_id bigint references namespaces (id) on delete cascade,
  slug text not null,
  -- One that is off keeps away what would be inherited.
  active boolean not null,
  -- The flags that are on, by name.
  events text[] not null,
  properties jsonb not null,
  -- A JSON object of the properties that no record shows.
  secrets_sealed text,
  created_at timestamptz (3) not null,
  updated_at timestamptz (3) not null,
  check ((project_id is null) <> (namespace_id is null))
);
create unique index integrations_project on integrations (project_id, slug);
create unique index integrations_namespace on integrations (namespace_id, slug);
