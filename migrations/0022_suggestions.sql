-- Changes that notes suggest for the lines that they are about.
create table suggestions (
  id bigint generated always as identity primary key,
  note_id bigint not null references notes (id) on delete cascade,
  -- Of several in one note.
  place integer not null,
  -- How many lines it replaces beside the line of the note, which moves with the note.
  lines_above integer not null,
  lines_below integer not null,
  from_content text not null,
  to_content text not null,
  -- Whether the lines were seen to have changed.
  outdated boolean not null default false,
  -- The commit that applied it.
  commit_sha text collate "C"
);
create index suggestions_note on suggestions (note_id, place);

-- What the note suggests that will be made of the draft.
alter table draft_notes add column suggestions jsonb;
