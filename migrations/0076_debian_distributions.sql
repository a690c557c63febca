-- Distributions of Debian packages, of projects and groups.
create table debian_distributions (
  id bigint generated always as identity primary key,
  project_id bigint references projects on delete cascade,
  namespace_id bigint references namespaces on delete cascade,
  codename text collate "C" not null,
  suite text collate "C",
  origin text,
  label text,
  version text,
  description text,
  valid_time_duration_seconds integer,
  components text[] not null,
  architectures text[] not null,
  -- What signs its releases, and the key that programs ask for.
  private_key_sealed text not null,
  public_key text not null,
  created_at timestamptz (3) not null,
  updated_at timestamptz (3) not null,
  check (num_nonnulls(project_id, namespace_id) = 1)
);
create unique index debian_distributions_project on debian_distributions (project_id, codename)
  where project_id is not null;
create unique index debian_distributions_group on debian_distributions (namespace_id, codename)
  where namespace_id is not null;
create unique index debian_distributions_suite_of_project on debian_distributions (project_id, suite)
  where project_id is not null and suite is not null;
create unique index debian_distributions_suite_of_group on debian_distributions (namespace_id, suite)
  where namespace_id is not null and suite is not null;

-- The files of packages that are in a distribution.
create table debian_files (
  file_id bigint primary key references package_files (id) on delete cascade,
  package_id bigint not null references packages (id) on delete cascade,
  distribution_id bigint not null references debian_distributions (id) on delete cascade,
  file_name text collate "C" not null,
  component text not null,
  -- Those of the last kind are in no index.
  kind text not null check (kind in ('deb', 'udeb', 'dsc', 'other')),
  architecture text,
  -- What indexes say of it, without its place.
  stanza text not null,
  stanza_length integer not null generated always as (length(stanza)) stored
);
create unique index debian_files_name on debian_files (package_id, distribution_id, file_name);
create index debian_files_indexed on debian_files (distribution_id, file_id) include (stanza_length, architecture)
  where kind <> 'other';
create index debian_files_distribution on debian_files (distribution_id);

-- Whose files wait for the description of their upload.
create index packages_debian_waiting on packages (id) where package_type = 'debian' and version is null;

-- Signed states of distributions. The state itself is in the fingerprint.
create table debian_releases (
  id bigint generated always as identity primary key,
  distribution_id bigint not null references debian_distributions (id) on delete cascade,
  fingerprint bytea not null,
  -- Whose packages it shows.
  project_ids bigint[] not null,
  -- None while its indexes are written.
  release text,
  signed_release text,
  signature text,
  created_at timestamptz (3) not null
);
create index debian_releases_fingerprint on debian_releases (distribution_id, fingerprint);

create table debian_indexes (
  release_id bigint not null references debian_releases (id) on delete cascade,
  path text collate "C" not null,
  sha256 bytea not null references blobs (sha256),
  size bigint not null,
  primary key (release_id, path)
);
create index debian_indexes_blob on debian_indexes (sha256);
