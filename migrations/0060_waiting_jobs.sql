-- What waits for a runner is found project by project, so that a project with very many of them keeps no runner busy looking.
create index ci_jobs_waiting on ci_jobs (project_id, id) where status = 'pending' and kind = 'job';
drop index ci_jobs_pending;
