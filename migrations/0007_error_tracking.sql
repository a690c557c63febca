-- Error tracking: what applications report of their faults, grouped into errors.

create table error_tracking_settings (
  project_id bigint primary key references projects (id) on delete cascade,
  active boolean not null,
  integrated boolean not null,
  -- Of an external tracker; its token is sealed.
  project_name text,
  external_url text,
  api_url text,
  token_sealed bytea,
  -- Whether addresses of the people who met an error are kept.
  keep_addresses boolean not null default false,
  created_at timestamptz(3) not null,
  updated_at timestamptz(3) not null
);

create table error_tracking_client_keys (
  id bigint generated always as identity primary key,
  project_id bigint not null references projects (id) on delete cascade,
  public_key text collate "C" not null unique,
  active boolean not null default true,
  created_at timestamptz(3) not null,
  updated_at timestamptz(3) not null
);
create index error_tracking_client_keys_project on error_tracking_client_keys (project_id, id);

-- What was reported and not digested yet, as it came. It lies here for seconds.
create table error_spool (
  id bigint generated always as identity primary key,
  project_id bigint not null references projects (id) on delete cascade,
  -- `envelope` or `store`.
  form text not null,
  -- What the body is compressed by: `gzip`, `deflate`, `br` or `identity`.
  encoding text not null,
  body bytea not null,
  -- Of the one who reported: for events that leave it to the server to say.
  address text,
  -- Tries to digest it that ended the digest itself.
  attempts smallint not null default 0,
  received_at timestamptz(3) not null
);
-- Compressed already.
alter table error_spool alter column body set storage external;
create index error_spool_project on error_spool (project_id);

create table errors (
  id bigint generated always as identity primary key,
  project_id bigint not null references projects (id) on delete cascade,
  fingerprint bytea not null,
  -- The type of the exception, or the first line of the message; what was said; where.
  name text not null,
  description text not null default '',
  actor text not null default '',
  platform text not null default '',
  level text not null default 'error',
  status text not null default 'unresolved' check (status in ('unresolved', 'resolved', 'ignored')),
  first_seen_at timestamptz(3) not null,
  last_seen_at timestamptz(3) not null,
  events_count bigint not null default 0,
  users_count integer not null default 0,
  first_release text,
  last_release text,
  resolved_at timestamptz(3),
  -- When it came back after it was resolved, last.
  regressed_at timestamptz(3),
  issue_id bigint references issues (id) on delete set null,
  created_at timestamptz(3) not null,
  updated_at timestamptz(3) not null
);
create unique index errors_project_fingerprint on errors (project_id, fingerprint);
create index errors_project_last_seen on errors (project_id, status, last_seen_at, id);
create index errors_project_first_seen on errors (project_id, status, first_seen_at, id);
create index errors_project_frequency on errors (project_id, status, events_count, id);
create index errors_issue on errors (issue_id) where issue_id is not null;
create index errors_last_seen on errors (last_seen_at);

create table error_events (
  id bigint generated always as identity primary key,
  error_id bigint not null references errors (id) on delete cascade,
  project_id bigint not null references projects (id) on delete cascade,
  -- As the application named it: what is sent twice is kept once.
  event_id uuid not null,
  level text not null,
  environment text,
  release text,
  -- The scrubbed event, as JSON that Zstandard has packed.
  payload bytea not null,
  occurred_at timestamptz(3) not null,
  received_at timestamptz(3) not null
);
alter table error_events alter column payload set storage external;
create unique index error_events_event_id on error_events (project_id, event_id);
create index error_events_error on error_events (error_id, id);
create index error_events_received on error_events (received_at);

create table error_counts (
  error_id bigint not null references errors (id) on delete cascade,
  hour timestamptz(3) not null,
  events integer not null,
  primary key (error_id, hour)
);
create index error_counts_hour on error_counts (hour);

-- Who met the error, as a digest of what the application calls them; no more than so many for an error.
create table error_users (
  error_id bigint not null references errors (id) on delete cascade,
  person bytea not null,
  primary key (error_id, person)
);

create table error_tags (
  error_id bigint not null references errors (id) on delete cascade,
  key text not null,
  value text not null,
  events bigint not null,
  last_seen_at timestamptz(3) not null,
  primary key (error_id, key, value)
);
