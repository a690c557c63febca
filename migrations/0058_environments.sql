-- Where a project is deployed to.
create table environments (
  id bigint generated always as identity primary key,
  project_id bigint not null references projects (id) on delete cascade,
  name text collate "C" not null,
  -- What hosts and other names may have in them, made of the name.
  slug text collate "C" not null,
  tier text not null check (tier in ('production', 'staging', 'testing', 'development', 'other')),
  external_url text,
  description text,
  state text not null check (state in ('available', 'stopping', 'stopped')),
  auto_stop_setting text not null check (auto_stop_setting in ('always', 'with_action')),
  auto_stop_at timestamptz (3),
  auto_delete_at timestamptz (3),
  kubernetes_namespace text,
  flux_resource_path text,
  created_at timestamptz (3) not null,
  updated_at timestamptz (3) not null
);
create unique index environments_name on environments (project_id, name);
create unique index environments_slug on environments (project_id, slug);
create index environments_auto_stop on environments (auto_stop_at) where state = 'available' and auto_stop_at is not null;
create index environments_auto_delete on environments (auto_delete_at) where auto_delete_at is not null;

alter table project_counters add column deployments integer not null default 0;
alter table ci_jobs add column environment_id bigint references environments (id) on delete set null;
create index ci_jobs_environment on ci_jobs (environment_id) where environment_id is not null;

-- What was brought to an environment, by a job or by a program that says so.
create table deployments (
  id bigint generated always as identity primary key,
  project_id bigint not null references projects (id) on delete cascade,
  environment_id bigint not null references environments (id) on delete cascade,
  iid integer not null,
  -- Its status follows the job's.
  job_id bigint references ci_jobs (id) on delete set null,
  user_id bigint not null references users (id),
  ref text collate "C" not null,
  sha text collate "C" not null,
  tag boolean not null,
  status text not null check (status in ('created', 'blocked', 'running', 'success', 'failed', 'canceled', 'skipped')),
  -- The environment's address, as the variables of the job that ran have it.
  external_url text,
  finished_at timestamptz (3),
  created_at timestamptz (3) not null,
  updated_at timestamptz (3) not null
);
create unique index deployments_iid on deployments (project_id, iid);
create unique index deployments_job on deployments (job_id) where job_id is not null;
create index deployments_project on deployments (project_id, id);
create index deployments_environment on deployments (environment_id, status, finished_at, id);
create index deployments_user on deployments (user_id);

-- What only one job of a project uses at a time; who gets it next goes by the mode.
create table resource_groups (
  id bigint generated always as identity primary key,
  project_id bigint not null references projects (id) on delete cascade,
  key text collate "C" not null,
  process_mode text not null default 'unordered' check (process_mode in ('unordered', 'oldest_first', 'newest_first', 'newest_ready_first')),
  created_at timestamptz (3) not null,
  updated_at timestamptz (3) not null
);
create unique index resource_groups_key on resource_groups (project_id, key);
alter table ci_jobs add column resource_group_id bigint references resource_groups (id) on delete set null;
create index ci_jobs_resource_group on ci_jobs (resource_group_id, status, pipeline_id) where resource_group_id is not null and not retried;

-- Who may deploy: to an environment of a project by its name, or to those of a tier in all projects of a group.
create table protected_environments (
  id bigint generated always as identity primary key,
  project_id bigint references projects (id) on delete cascade,
  namespace_id bigint references namespaces (id) on delete cascade,
  name text collate "C" not null,
  created_at timestamptz (3) not null,
  updated_at timestamptz (3) not null,
  check (num_nonnulls(project_id, namespace_id) = 1)
);
create unique index protected_environments_project on protected_environments (project_id, name) where project_id is not null;
create unique index protected_environments_namespace on protected_environments (namespace_id, name) where namespace_id is not null;

create table protected_environment_access (
  id bigint generated always as identity primary key,
  protected_environment_id bigint not null references protected_environments (id) on delete cascade,
  access_level smallint check (access_level in (30, 40, 60)),
  user_id bigint references users (id) on delete cascade,
  group_id bigint references namespaces (id) on delete cascade,
  -- Of a group: its own members, or those of the groups around it as well.
  group_inheritance_type smallint not null check (group_inheritance_type in (0, 1)),
  check (num_nonnulls(access_level, user_id, group_id) = 1)
);
create index protected_environment_access_environment on protected_environment_access (protected_environment_id, id);
create index protected_environment_access_user on protected_environment_access (user_id) where user_id is not null;
create index protected_environment_access_group on protected_environment_access (group_id) where group_id is not null;

-- Whether who started the job may deploy to its environment.
alter table ci_jobs add column may_deploy boolean not null default true;

-- When nothing should be deployed: jobs are told, by a variable.
create table freeze_periods (
  id bigint generated always as identity primary key,
  project_id bigint not null references projects (id) on delete cascade,
  freeze_start text not null,
  freeze_end text not null,
  cron_timezone text not null,
  created_at timestamptz (3) not null,
  updated_at timestamptz (3) not null
);
create index freeze_periods_project on freeze_periods (project_id, id);
