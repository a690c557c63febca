-- Whether what the job wrote may hold the values of its variables.
alter table ci_jobs add column debug_trace boolean not null default false;
