-- Webhooks of projects, of groups and, where both are null, of the instance.
create table hooks (
  id bigint generated always as identity primary key,
  project_id bigint references projects (id) on delete cascade,
  namespace_id bigint references namespaces (id) on delete cascade,
  -- An address may have a name and a password in it.
  url_sealed text not null,
  name text,
  description text,
  token_sealed text,
  -- The flags that are on, by name.
  events text[] not null,
  enable_ssl_verification boolean not null,
  branch_filter_strategy text not null check (branch_filter_strategy in ('wildcard', 'regex', 'all_branches')),
  push_events_branch_filter text,
  custom_webhook_template text,
  -- JSON objects of names and values.
  custom_headers_sealed text,
  url_variables_sealed text,
  -- One after the other; any success ends them.
  recent_failures integer not null default 0,
  disabled_until timestamptz (3),
  -- Sends its deliveries now.
  sender uuid references processes (id) on delete set null,
  created_at timestamptz (3) not null,
  updated_at timestamptz (3) not null,
  check (project_id is null or namespace_id is null)
);
create index hooks_project on hooks (project_id, id) where project_id is not null;
create index hooks_namespace on hooks (namespace_id, id) where namespace_id is not null;
create index hooks_instance on hooks (id) where project_id is null and namespace_id is null;
create index hooks_sender on hooks (sender) where sender is not null;

-- What hooks tell of: the body is made once for all hooks that get it.
create table hook_events (
  id bigint generated always as identity primary key,
  -- Of the fact, and which of its events; a fact that is heard twice makes them once. Null for tests.
  fact_id bigint,
  place integer not null default 0,
  -- The chain of events that hooks set off.
  chain uuid not null,
  flag text not null,
  body text not null,
  created_at timestamptz (3) not null
);
create unique index hook_events_fact on hook_events (fact_id, place);
create index hook_events_chain on hook_events (chain);
create index hook_events_created on hook_events (created_at);

-- A request to the address of a hook, and what came of it.
create table hook_deliveries (
  id bigint generated always as identity primary key,
  hook_id bigint not null references hooks (id) on delete cascade,
  event_id bigint not null references hook_events (id) on delete cascade,
  -- The same however often it is sent.
  idempotency_key uuid not null,
  -- Null while it waits.
  sent_at timestamptz (3),
  -- Masked, as the log shows them.
  url text,
  request_headers jsonb,
  -- Where a template made another body of the event's.
  request_body text,
  response_headers jsonb,
  response_body text,
  response_status text,
  -- In seconds.
  execution_duration double precision
);
create index hook_deliveries_event on hook_deliveries (event_id);
create index hook_deliveries_waiting on hook_deliveries (hook_id, id) where sent_at is null;
create index hook_deliveries_sent on hook_deliveries (hook_id, id) where sent_at is not null;
