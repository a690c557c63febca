-- Files that jobs hand over: archives of what they made, and reports.
create table ci_artifacts (
  id bigint generated always as identity primary key,
  job_id bigint not null references ci_jobs (id) on delete cascade,
  project_id bigint not null references projects (id) on delete cascade,
  -- `archive`, or the type of a report.
  file_type text collate "C" not null,
  file_format text not null check (file_format in ('raw', 'zip', 'gzip')),
  -- The name of the file below the data folder.
  secret text collate "C" not null unique,
  filename text not null,
  size bigint not null,
  sha256 bytea not null,
  -- Who downloads it: all who see the job, or those of a role.
  access text not null default 'all' check (access in ('all', 'developer', 'maintainer', 'none')),
  expires_at timestamptz (3),
  created_at timestamptz (3) not null,
  unique (job_id, file_type)
);
create index ci_artifacts_project on ci_artifacts (project_id);
create index ci_artifacts_expiring on ci_artifacts (expires_at) where expires_at is not null;

alter table ci_jobs
  -- Stays when the files are gone.
  add column artifacts_expire_at timestamptz (3),
  -- The variables that its script wrote into a report for later jobs.
  add column dotenv_sealed text;
-- The last that went well, of each ref.
create index pipelines_successful on pipelines (project_id, ref, tag, id) where status = 'success';
