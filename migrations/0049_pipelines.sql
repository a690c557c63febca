-- Pipelines of projects, with the jobs that make them up. What other programs said of commits made pipelines already, and
-- its rows are among them: a status that another program sets is a kind of job.
alter table external_pipelines rename to pipelines;
alter table pipelines rename constraint external_pipelines_pkey to pipelines_pkey;
alter table pipelines rename constraint external_pipelines_project_id_fkey to pipelines_project_id_fkey;
drop index external_pipelines_commit;

alter table project_counters add column pipelines integer not null default 0;

alter table pipelines
  add column iid integer,
  -- Where a push came from; zeros for a new ref, and where nothing was pushed.
  add column before_sha text collate "C" not null default repeat('0', 40),
  add column tag boolean not null default false,
  add column source text not null default 'external',
  add column status text not null default 'created',
  -- Whether its ref was protected: its jobs may have protected variables and runners of protected refs.
  add column protected boolean not null default false,
  add column user_id bigint references users (id) on delete set null,
  add column name text,
  add column yaml_errors text,
  add column failure_reason text,
  -- Which of its jobs a newer pipeline of the ref cancels.
  add column on_new_commit text not null default 'conservative' check (on_new_commit in ('conservative', 'interruptible', 'none')),
  -- Whether the first job that fails cancels the others.
  add column on_job_failure text not null default 'none' check (on_job_failure in ('none', 'all')),
  add column started_at timestamptz (3),
  add column finished_at timestamptz (3),
  -- Seconds in which at least one of its jobs ran.
  add column duration integer,
  add column updated_at timestamptz (3);

with numbered as (select id, row_number() over (partition by project_id order by id) as nth from pipelines)
update pipelines p set iid = n.nth,
  updated_at = coalesce((select max(s.updated_at) from commit_statuses s where s.pipeline_id = p.id), p.created_at)
from numbered n where n.id = p.id;
insert into project_counters (project_id, pipelines) select project_id, max(iid) from pipelines group by project_id
on conflict (project_id) do update set pipelines = excluded.pipelines;
update pipelines p set status = coalesce((
  select case
    when bool_and(s.status = 'skipped') then 'skipped'
    when bool_and(s.status in ('success', 'skipped')) then 'success'
    when bool_and(s.status in ('success', 'skipped', 'canceled')) then 'canceled'
    when bool_and(s.status in ('pending', 'skipped')) then 'pending'
    when bool_or(s.status in ('pending', 'running')) then 'running'
    else 'failed' end
  from commit_statuses s where s.pipeline_id = p.id having count(*) > 0), 'created');

alter table pipelines
  alter column iid set not null,
  alter column updated_at set not null,
  alter column before_sha drop default,
  alter column tag drop default,
  alter column source drop default,
  alter column status drop default,
  alter column protected drop default,
  add constraint pipelines_status_check check (status in ('created', 'waiting_for_resource', 'preparing',
    'waiting_for_callback', 'pending', 'running', 'success', 'failed', 'canceling', 'canceled', 'skipped', 'manual', 'scheduled'));
create unique index pipelines_project_iid on pipelines (project_id, iid);
create index pipelines_project on pipelines (project_id, id);
create index pipelines_commit on pipelines (project_id, sha, id);
create index pipelines_ref on pipelines (project_id, ref, id);
create index pipelines_user on pipelines (user_id);

alter table commit_statuses rename to ci_jobs;
alter table ci_jobs rename constraint commit_statuses_pkey to ci_jobs_pkey;
alter table ci_jobs rename constraint commit_statuses_pipeline_id_fkey to ci_jobs_pipeline_id_fkey;
alter table ci_jobs rename constraint commit_statuses_project_id_fkey to ci_jobs_project_id_fkey;
alter table ci_jobs rename column author_id to user_id;
alter index commit_statuses_author rename to ci_jobs_user;
drop index commit_statuses_commit, commit_statuses_name;
-- Those of the pipeline.
alter table ci_jobs drop column sha, drop column ref, drop constraint commit_statuses_status_check;
alter table ci_jobs
  -- What a runner does, what makes a pipeline elsewhere, what another program said.
  add column kind text not null default 'status' check (kind in ('job', 'bridge', 'status')),
  add column stage text not null default 'external',
  add column stage_index integer not null default 1000000,
  -- Another row of the pipeline took its place.
  add column retried boolean not null default false,
  -- When it runs: after what came before it went well, badly, always, by hand or after a time.
  add column runs_when text not null default 'on_success' check (runs_when in ('on_success', 'on_failure', 'always', 'manual', 'delayed')),
  -- The names of the jobs that it waits for; null: all of the stages before its own.
  add column needs text[],
  add column tags text[] not null default '{}',
  add column protected boolean not null default false,
  add column interruptible boolean not null default false,
  -- What the file says of it, as the compiler planned it.
  add column options jsonb not null default '{}',
  add column failure_reason text,
  add column exit_code integer,
  -- Of the token with which its runner reports, and its script acts; only while it runs.
  add column token_digest bytea,
  add column queued_at timestamptz (3),
  add column scheduled_at timestamptz (3),
  add column erased_at timestamptz (3),
  add constraint ci_jobs_status_check check (status in ('created', 'waiting_for_resource', 'preparing',
    'waiting_for_callback', 'pending', 'running', 'success', 'failed', 'canceling', 'canceled', 'skipped', 'manual', 'scheduled'));
alter table ci_jobs alter column kind drop default, alter column stage drop default, alter column stage_index drop default;
create index ci_jobs_pipeline on ci_jobs (pipeline_id, id);
create index ci_jobs_project on ci_jobs (project_id, id);
create unique index ci_jobs_status_name on ci_jobs (pipeline_id, name) where kind = 'status' and not retried;
create unique index ci_jobs_token on ci_jobs (token_digest) where token_digest is not null;
-- What waits for a runner.
create index ci_jobs_pending on ci_jobs (id) where status = 'pending' and kind = 'job';
