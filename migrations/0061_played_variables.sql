-- Whoever starts a job by hand may give it variables: sealed, as those of a pipeline are.
alter table ci_jobs add column played_sealed text;
