-- What pipelines were started by, and the variables that came with it.
alter table pipelines
  -- The push that made it, which is heard more than once.
  add column fact_id bigint,
  add column trigger_id bigint references trigger_tokens (id) on delete set null;
create unique index pipelines_fact on pipelines (fact_id, ref, tag) where fact_id is not null;
create index pipelines_trigger on pipelines (trigger_id, id) where trigger_id is not null;

create table pipeline_variables (
  id bigint generated always as identity primary key,
  pipeline_id bigint not null references pipelines (id) on delete cascade,
  key text collate "C" not null,
  value_sealed text not null,
  variable_type text not null check (variable_type in ('env_var', 'file')),
  unique (pipeline_id, key)
);
