-- Packages of projects, of all formats: what their programs publish and install.
create table packages (
  id bigint generated always as identity primary key,
  project_id bigint not null references projects (id) on delete cascade,
  package_type text not null check (package_type in ('maven', 'npm', 'conan', 'nuget', 'pypi', 'composer', 'generic',
    'golang', 'debian', 'rubygems', 'helm', 'terraform_module')),
  name text collate "C" not null,
  -- None for what is about all versions of a name.
  version text collate "C",
  status text not null default 'default' check (status in ('default', 'hidden', 'processing', 'error', 'deprecated')),
  status_message text,
  -- What the format's programs read of it.
  metadata jsonb not null default '{}',
  -- None for what a deploy token published.
  creator_id bigint,
  last_downloaded_at timestamptz (3),
  created_at timestamptz (3) not null,
  updated_at timestamptz (3) not null
);
create unique index packages_version on packages (project_id, package_type, name, version) nulls not distinct;
create index packages_listed on packages (project_id, created_at, id);
create index packages_creator on packages (creator_id) where creator_id is not null;

create table package_files (
  id bigint generated always as identity primary key,
  package_id bigint not null references packages (id) on delete cascade,
  file_name text collate "C" not null,
  sha256 bytea not null references blobs (sha256),
  size bigint not null,
  md5 bytea not null,
  sha1 bytea not null,
  metadata jsonb not null default '{}',
  created_at timestamptz (3) not null
);
create index package_files_name on package_files (package_id, file_name, id);
create index package_files_blob on package_files (sha256);

create table package_tags (
  id bigint generated always as identity primary key,
  package_id bigint not null references packages (id) on delete cascade,
  name text collate "C" not null,
  created_at timestamptz (3) not null,
  updated_at timestamptz (3) not null
);
create unique index package_tags_name on package_tags (package_id, name);

-- The pipelines whose jobs published a file.
create table package_file_pipelines (
  package_file_id bigint not null references package_files (id) on delete cascade,
  package_id bigint not null references packages (id) on delete cascade,
  pipeline_id bigint not null references pipelines (id) on delete cascade,
  primary key (package_file_id, pipeline_id)
);
create index package_file_pipelines_package on package_file_pipelines (package_id, pipeline_id);
create index package_file_pipelines_pipeline on package_file_pipelines (pipeline_id);

create table package_protection_rules (
  id bigint generated always as identity primary key,
  project_id bigint not null references projects (id) on delete cascade,
  package_name_pattern text collate "C" not null,
  package_type text not null,
  -- The least roles that push and delete what the pattern matches.
  push_level smallint,
  delete_level smallint,
  created_at timestamptz (3) not null,
  updated_at timestamptz (3) not null,
  check (num_nonnulls(push_level, delete_level) > 0)
);
create unique index package_protection_rules_pattern
  on package_protection_rules (project_id, package_type, package_name_pattern);
