-- What the inputs of a job were given by who started it; the others have the values of the file.
alter table ci_jobs add column inputs jsonb;
