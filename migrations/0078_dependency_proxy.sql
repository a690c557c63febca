-- The dependency proxy: images of another registry, which a group keeps when its members pull them.
create table dependency_proxy_settings (
  namespace_id bigint primary key references namespaces (id) on delete cascade,
  enabled boolean not null,
  -- With which the registry behind is asked; both or neither.
  identity text,
  secret_sealed text,
  image_ttl_enabled boolean not null,
  -- Days that nobody pulled what then goes.
  image_ttl integer not null,
  created_at timestamptz (3) not null,
  updated_at timestamptz (3) not null,
  check ((identity is null) = (secret_sealed is null))
);

create table dependency_proxy_manifests (
  id bigint generated always as identity primary key,
  namespace_id bigint not null references namespaces (id) on delete cascade,
  -- As the registry behind names it.
  image text collate "C" not null,
  digest text collate "C" not null,
  media_type text not null,
  sha256 bytea not null references blobs (sha256),
  size bigint not null,
  created_at timestamptz (3) not null,
  -- To the hour.
  pulled_at timestamptz (3) not null
);
create unique index dependency_proxy_manifests_digest on dependency_proxy_manifests (namespace_id, image, digest);
create index dependency_proxy_manifests_blob on dependency_proxy_manifests (sha256);
create index dependency_proxy_manifests_pulled on dependency_proxy_manifests (namespace_id, pulled_at);

create table dependency_proxy_tags (
  namespace_id bigint not null references namespaces (id) on delete cascade,
  image text collate "C" not null,
  name text collate "C" not null,
  manifest_id bigint not null references dependency_proxy_manifests (id) on delete cascade,
  primary key (namespace_id, image, name)
);
create index dependency_proxy_tags_manifest on dependency_proxy_tags (manifest_id);

create table dependency_proxy_blobs (
  id bigint generated always as identity primary key,
  namespace_id bigint not null references namespaces (id) on delete cascade,
  digest text collate "C" not null,
  sha256 bytea not null references blobs (sha256),
  size bigint not null,
  created_at timestamptz (3) not null,
  pulled_at timestamptz (3) not null
);
create unique index dependency_proxy_blobs_digest on dependency_proxy_blobs (namespace_id, digest);
create index dependency_proxy_blobs_blob on dependency_proxy_blobs (sha256);
create index dependency_proxy_blobs_pulled on dependency_proxy_blobs (namespace_id, pulled_at);
