-- Dependencies between merge requests: one is merged only after those that block it.
create table merge_request_blocks (
  id bigint generated always as identity primary key,
  blocking_id bigint not null references merge_requests (id) on delete cascade,
  blocked_id bigint not null references merge_requests (id) on delete cascade,
  created_at timestamptz (3) not null,
  check (blocking_id <> blocked_id)
);
create unique index merge_request_blocks_once on merge_request_blocks (blocked_id, blocking_id);
create index merge_request_blocks_blocking on merge_request_blocks (blocking_id, id);
