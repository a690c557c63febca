-- Notes on merge requests that only their authors see until they publish them.
create table draft_notes (
  id bigint generated always as identity primary key,
  merge_request_id bigint not null references merge_requests (id) on delete cascade,
  author_id bigint not null references users (id) on delete cascade,
  -- The thread that it will answer, and whether it will resolve it.
  discussion_id text collate "C",
  resolve_discussion boolean not null default false,
  note text not null,
  commit_sha text collate "C",
  position jsonb,
  line_code text collate "C",
  created_at timestamptz (3) not null,
  updated_at timestamptz (3) not null
);
create index draft_notes_author on draft_notes (author_id, merge_request_id, id);
create index draft_notes_merge_request on draft_notes (merge_request_id, id);
