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
