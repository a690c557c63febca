-- What integrations have to send: the rows go when they are sent.
create table integration_deliveries (
  id bigint generated always as identity primary key,
  integration_id bigint not null references integrations (id) on delete cascade,
  -- Of the fact, and which of its messages; a fact that is heard twice makes them once.
  fact_id bigint not null,
  place integer not null,
  -- As JSON.
  prepared text not null,
  -- When it happened: what is too old is given up.
  fact_at timestamptz (3) not null
);
create unique index integration_deliveries_fact on integration_deliveries (integration_id, fact_id, place);
create index integration_deliveries_waiting on integration_deliveries (integration_id, id);

alter table integrations
  -- Sends its deliveries now.
  add column sender uuid references processes (id) on delete set null,
  -- One after the other; any success ends them.
  add column recent_failures integer not null default 0,
  -- Until then a service that failed is left alone.
  add column paused_until timestamptz (3);
create index integrations_sender on integrations (sender) where sender is not null;

-- What waited as a job before.
do $$
begin
  if to_regclass('graphile_worker._private_tasks') is null then return; end if;
  insert into integration_deliveries (integration_id, fact_id, place, prepared, fact_at)
    select i.id, split_part(j.payload ->> 'id', '-', 3)::bigint, split_part(j.payload ->> 'id', '-', 4)::integer,
      (j.payload -> 'prepared')::text, (j.payload ->> 'fact_at')::timestamptz
    from graphile_worker._private_jobs j
    join graphile_worker._private_tasks t on t.id = j.task_id and t.identifier = 'integrations.deliver'
    join integrations i on i.id = (j.payload ->> 'integration_id')::bigint
    where j.attempts < j.max_attempts
    order by j.run_at, j.id
    on conflict (integration_id, fact_id, place) do nothing;
  delete from graphile_worker._private_jobs j using graphile_worker._private_tasks t
    where t.id = j.task_id and t.identifier = 'integrations.deliver';
end $$;
