-- Portable PDBs in symbol packages of NuGet, by what debuggers know of them: their name, their signature, and the SHA-256 of their
-- bytes without their id.
create table nuget_symbols (
  id bigint generated always as identity primary key,
  package_file_id bigint not null references package_files (id) on delete cascade,
  file_name text collate "C" not null,
  signature text collate "C" not null,
  checksum bytea not null,
  sha256 bytea not null references blobs (sha256),
  size bigint not null
);
create index nuget_symbols_signature on nuget_symbols (signature, checksum);
create index nuget_symbols_file on nuget_symbols (package_file_id);
create index nuget_symbols_blob on nuget_symbols (sha256);

-- Packages of Conan are searched at the address of the instance, too.
create index packages_conan on packages (project_id, id) where package_type = 'conan';
