-- Files of projects that jobs fetch, such as keys and certificates.
create table secure_files (
  id bigint generated always as identity primary key,
  project_id bigint not null references projects (id) on delete cascade,
  name text collate "C" not null,
  -- The name of the file below the data folder.
  secret text collate "C" not null unique,
  size bigint not null,
  sha256 bytea not null,
  created_at timestamptz (3) not null
);
create unique index secure_files_name on secure_files (project_id, name);
