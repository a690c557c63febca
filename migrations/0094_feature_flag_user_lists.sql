-- Lists of users that strategies of feature flags name; a strategy keeps the id in its flag's row.
create table feature_flag_user_lists (
  id bigint generated always as identity primary key,
  project_id bigint not null references projects (id) on delete cascade,
  iid integer not null,
  name text collate "C" not null,
  user_xids text not null,
  created_at timestamptz(3) not null,
  updated_at timestamptz(3) not null,
  unique (project_id, iid),
  unique (project_id, name)
);
alter table project_counters add column feature_flag_user_lists integer not null default 0;
