-- Where the bytes of a blob rest in the object store; null where they are in the folder of files.
alter table blobs add column object text collate "C";

-- Objects that no blob has any more. An object gets its name once: what removes it late removes nothing else.
create table removed_objects (
  object text collate "C" primary key,
  removed_at timestamp(3) with time zone not null
);
