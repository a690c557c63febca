-- Sizes of projects are added up from indexes alone, which have them by project.
drop index ci_artifacts_project;
create index ci_artifacts_project on ci_artifacts (project_id) include (size);
drop index uploads_project;
create index uploads_project on uploads (project_id, id) include (size) where project_id is not null;
drop index package_files_name;
create index package_files_name on package_files (package_id, file_name, id) include (size);

alter table ci_traces add column project_id bigint references projects (id) on delete cascade;
update ci_traces t set project_id = j.project_id from ci_jobs j where j.id = t.job_id;
alter table ci_traces alter column project_id set not null;
create index ci_traces_project on ci_traces (project_id) include (size);
