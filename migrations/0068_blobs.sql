-- Bytes by their SHA-256. What names them has a foreign key to here: as long as one row does, they stay.
create table blobs (
  sha256 bytea primary key check (length(sha256) = 32),
  created_at timestamptz (3) not null
);
