-- A feature flag may be on for some callers only: for actors such as `User:7`, or for a share of them or of the time.
alter table feature_gates
  add column actors text[] not null default '{}',
  add column percentage_of_actors double precision not null default 0,
  add column percentage_of_time double precision not null default 0;
