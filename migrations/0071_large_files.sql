-- Git LFS: which objects a project serves, and which paths of it are locked.
create table lfs_objects (
  project_id bigint not null references projects (id) on delete cascade,
  -- The object's id is the SHA-256 of its bytes.
  sha256 bytea not null references blobs (sha256),
  size bigint not null,
  created_at timestamptz (3) not null,
  primary key (project_id, sha256) include (size)
);
create index lfs_objects_blob on lfs_objects (sha256);

create table lfs_locks (
  id bigint generated always as identity primary key,
  project_id bigint not null references projects (id) on delete cascade,
  -- Of all branches.
  path text collate "C" not null,
  user_id bigint not null references users (id) on delete cascade,
  created_at timestamptz (3) not null
);
create unique index lfs_locks_path on lfs_locks (project_id, path);
create index lfs_locks_listed on lfs_locks (project_id, id);
create index lfs_locks_user on lfs_locks (user_id);
