-- Repositories on other servers: the one that a project's own comes from, and those that it goes to.
create table mirrors (
  id bigint generated always as identity primary key,
  project_id bigint not null references projects (id) on delete cascade,
  kind text not null check (kind in ('pull', 'push')),
  -- One to pull from that is off brought the project's repository once.
  enabled boolean not null,
  -- Without name and password.
  url text not null,
  -- A JSON object of the name and the password.
  credentials_sealed text,
  -- In whose name a pull writes.
  user_id bigint references users (id) on delete set null,
  only_protected boolean,
  branch_regex text,
  -- Refs that have gone other ways are overwritten, here by a pull and there by a push.
  overwrites boolean,
  trigger_builds boolean not null default false,
  status text not null,
  last_error text,
  last_update_at timestamptz (3),
  last_update_started_at timestamptz (3),
  last_successful_update_at timestamptz (3),
  -- One after the other.
  failures integer not null default 0,
  -- Somebody was told of the present failures.
  is_told boolean not null default false,
  -- Since when a run is due.
  due_at timestamptz (3),
  -- The process that runs it.
  runner uuid,
  created_at timestamptz (3) not null,
  updated_at timestamptz (3) not null
);
create unique index mirrors_source on mirrors (project_id) where kind = 'pull';
create index mirrors_project on mirrors (project_id, id);
create index mirrors_due on mirrors (due_at) where due_at is not null;
create index mirrors_running on mirrors (runner) where runner is not null;
create index mirrors_user on mirrors (user_id);
