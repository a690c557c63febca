-- The pipeline by one of whose jobs a pipeline was started: by a bridge, or by the token of a job, of which there may be many.
alter table pipelines
  add column source_pipeline_id bigint references pipelines (id) on delete set null,
  add column token_job_id bigint references ci_jobs (id) on delete set null;
update pipelines p set source_pipeline_id = j.pipeline_id from ci_jobs j where j.id = p.source_job_id;
create index pipelines_source_pipeline on pipelines (source_pipeline_id) where source_pipeline_id is not null;
create index pipelines_token_job on pipelines (token_job_id) where token_job_id is not null;
