-- Badges of projects and groups: an image with a link.
create table badges (
  id bigint generated always as identity primary key,
  project_id bigint references projects on delete cascade,
  namespace_id bigint references namespaces on delete cascade,
  name text,
  link_url text not null,
  image_url text not null,
  created_at timestamptz(3) not null,
  updated_at timestamptz(3) not null,
  check (num_nonnulls(project_id, namespace_id) = 1)
);
create index badges_project on badges (project_id, id) where project_id is not null;
create index badges_group on badges (namespace_id, id) where namespace_id is not null;
