-- The container registry: repositories of images below projects.
create table container_repositories (
  id bigint generated always as identity primary key,
  project_id bigint not null references projects (id) on delete cascade,
  -- Relative to the project's path; empty for the project's own.
  name text collate "C" not null,
  created_at timestamptz (3) not null,
  updated_at timestamptz (3) not null
);
create unique index container_repositories_name on container_repositories (project_id, name);

-- Which blobs a repository serves: those that were pushed or mounted there.
create table container_blobs (
  repository_id bigint not null references container_repositories (id) on delete cascade,
  -- As its clients name it, with the algorithm.
  digest text collate "C" not null,
  sha256 bytea not null references blobs (sha256),
  size bigint not null,
  -- When a client last pushed it, mounted it or asked for it: a link that no manifest needs is kept for a day.
  linked_at timestamptz (3) not null,
  primary key (repository_id, digest)
);
create index container_blobs_blob on container_blobs (sha256);
create index container_blobs_linked on container_blobs (linked_at);

create table container_manifests (
  id bigint generated always as identity primary key,
  repository_id bigint not null references container_repositories (id) on delete cascade,
  digest text collate "C" not null,
  media_type text not null,
  sha256 bytea not null references blobs (sha256),
  size bigint not null,
  config_digest text collate "C",
  -- The manifest that this one is about, which may be missing.
  subject text collate "C",
  artifact_type text,
  annotations jsonb,
  created_at timestamptz (3) not null
);
create unique index container_manifests_digest on container_manifests (repository_id, digest);
create index container_manifests_subject on container_manifests (repository_id, subject, id) where subject is not null;
create index container_manifests_blob on container_manifests (sha256);

-- The keys of what manifests refer to are looked at when a transaction ends: a repository goes with all of it.
create table container_manifest_blobs (
  manifest_id bigint not null references container_manifests (id) on delete cascade,
  repository_id bigint not null,
  digest text collate "C" not null,
  primary key (manifest_id, digest),
  foreign key (repository_id, digest) references container_blobs (repository_id, digest) deferrable initially deferred
);
create index container_manifest_blobs_blob on container_manifest_blobs (repository_id, digest);

create table container_manifest_children (
  manifest_id bigint not null references container_manifests (id) on delete cascade,
  child_id bigint not null references container_manifests (id) deferrable initially deferred,
  primary key (manifest_id, child_id)
);
create index container_manifest_children_child on container_manifest_children (child_id);

create table container_tags (
  id bigint generated always as identity primary key,
  repository_id bigint not null references container_repositories (id) on delete cascade,
  name text collate "C" not null,
  manifest_id bigint not null references container_manifests (id) on delete cascade,
  created_at timestamptz (3) not null,
  updated_at timestamptz (3) not null
);
create unique index container_tags_name on container_tags (repository_id, name);
create index container_tags_manifest on container_tags (manifest_id);

-- Blobs that arrive over several requests, each of which leaves a draft.
create table container_uploads (
  id uuid primary key,
  repository_id bigint not null references container_repositories (id) on delete cascade,
  -- The caller who began it, and who alone goes on with it.
  started_by text not null,
  size bigint not null default 0,
  chunks integer not null default 0,
  created_at timestamptz (3) not null
);
create index container_uploads_repository on container_uploads (repository_id);
create index container_uploads_created on container_uploads (created_at);

create table container_chunks (
  upload_id uuid not null references container_uploads (id) on delete cascade,
  start bigint not null,
  size bigint not null,
  sha256 bytea not null,
  draft text not null,
  primary key (upload_id, start)
);
