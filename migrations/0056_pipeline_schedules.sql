-- Pipelines of a ref that start by the clock, in the name of their owner.
create table pipeline_schedules (
  id bigint generated always as identity primary key,
  project_id bigint not null references projects (id) on delete cascade,
  owner_id bigint references users (id) on delete set null,
  description text not null,
  -- Full where the branch or tag was there when it was named.
  ref text not null,
  cron text not null,
  cron_timezone text not null,
  active boolean not null,
  next_run_at timestamptz (3) not null,
  inputs jsonb not null,
  created_at timestamptz (3) not null,
  updated_at timestamptz (3) not null
);
create index pipeline_schedules_project on pipeline_schedules (project_id, id);
create index pipeline_schedules_owner on pipeline_schedules (owner_id);
create index pipeline_schedules_due on pipeline_schedules (next_run_at) where active;

create table pipeline_schedule_variables (
  id bigint generated always as identity primary key,
  schedule_id bigint not null references pipeline_schedules (id) on delete cascade,
  key text collate "C" not null,
  value_sealed text not null,
  variable_type text not null check (variable_type in ('env_var', 'file')),
  updated_at timestamptz (3) not null,
  unique (schedule_id, key)
);

alter table pipelines
  add column schedule_id bigint references pipeline_schedules (id) on delete set null,
  -- The time of the schedule that made it, whose work may be done twice.
  add column scheduled_for timestamptz (3);
create index pipelines_schedule on pipelines (schedule_id, id) where schedule_id is not null;
create unique index pipelines_scheduled on pipelines (schedule_id, scheduled_for) where scheduled_for is not null;
