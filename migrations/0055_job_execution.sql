-- Who runs a job. Its token is one of the access tokens, and there while the job runs.
alter table ci_jobs
  add column runner_id bigint references runners (id) on delete set null,
  add column runner_manager_id bigint references runner_managers (id) on delete set null,
  -- The runner ends a canceled job by itself, with what is to be done after it.
  add column cancel_gracefully boolean not null default false,
  -- Seconds that it may run.
  add column timeout integer;
create index ci_jobs_runner on ci_jobs (runner_id, id) where runner_id is not null;
create index ci_jobs_runner_manager on ci_jobs (runner_manager_id) where runner_manager_id is not null;
-- What projects share runners fairly by.
create index ci_jobs_running on ci_jobs (project_id) where status = 'running' and kind = 'job';
-- What the clock moves on.
create index ci_jobs_scheduled on ci_jobs (scheduled_at) where status = 'scheduled';
create index ci_jobs_active on ci_jobs (updated_at) where status in ('pending', 'running', 'canceling');
