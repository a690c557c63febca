-- Users who take a seat, by day.
create table user_counts (
  day date primary key,
  users integer not null,
  counted_at timestamp(3) with time zone not null
);

-- Further names of projects, by which they are cloned and pushed to.
create table project_aliases (
  id bigint generated always as identity primary key,
  project_id bigint not null references projects (id) on delete cascade,
  name text not null,
  created_at timestamp(3) with time zone not null
);
create unique index project_aliases_name on project_aliases (lower(name) collate "C");
create index project_aliases_project on project_aliases (project_id);
