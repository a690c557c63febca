-- What a project thinks of licences.
create table managed_licenses (
  id bigint generated always as identity primary key,
  project_id bigint not null references projects on delete cascade,
  name text not null,
  approval_status text not null check (approval_status in ('allowed', 'denied')),
  created_at timestamptz(3) not null,
  updated_at timestamptz(3) not null,
  constraint managed_licenses_name unique (project_id, name)
);

-- The sites that administrators have registered, this one among them.
create table geo_sites (
  id bigint generated always as identity primary key,
  name text not null,
  url text not null,
  internal_url text,
  is_primary boolean not null,
  enabled boolean not null,
  files_max_capacity integer not null,
  repos_max_capacity integer not null,
  verification_max_capacity integer not null,
  container_repositories_max_capacity integer not null,
  selective_sync_type text check (selective_sync_type in ('namespaces', 'shards')),
  selective_sync_shards text[] not null,
  selective_sync_namespace_ids bigint[] not null,
  minimum_reverification_interval integer not null,
  sync_object_storage boolean not null,
  blob_download_timeout integer not null,
  created_at timestamptz(3) not null,
  updated_at timestamptz(3) not null,
  constraint geo_sites_name unique (name),
  constraint geo_sites_url unique (url)
);
create unique index geo_sites_primary on geo_sites (is_primary) where is_primary;

-- Clones and fetches of a project on a day.
create table project_fetches (
  project_id bigint not null references projects on delete cascade,
  day date not null,
  fetches integer not null,
  primary key (project_id, day)
);
create index project_fetches_day on project_fetches (day);

-- What a user tells the support to be recognised by.
create table support_pins (
  user_id bigint primary key references users on delete cascade,
  pin_sealed text not null,
  expires_at timestamptz(3) not null
);
