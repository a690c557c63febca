-- The bridge that a pipeline was started by: one pipeline for each, however often the work is done.
alter table pipelines add column source_job_id bigint references ci_jobs (id) on delete set null;
create unique index pipelines_source_job on pipelines (source_job_id) where source_job_id is not null;

-- The pipeline of another project whose status a bridge has.
alter table ci_jobs add column upstream_pipeline_id bigint references pipelines (id) on delete set null;
create index ci_jobs_upstream_pipeline on ci_jobs (upstream_pipeline_id) where upstream_pipeline_id is not null;
create index ci_jobs_bridges on ci_jobs (pipeline_id, id) where kind = 'bridge';

-- What a bridge hands on may hold characters that are no references.
alter table pipeline_variables add column raw boolean not null default false;
