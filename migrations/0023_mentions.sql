-- What a note tells a mention in: it is told once of each, goes with it, and is shown to those who read it.
alter table notes
  add column mentioned_in_merge_request_id bigint references merge_requests (id) on delete cascade,
  add column mentioned_in_project_id bigint references projects (id) on delete cascade,
  add column mentioned_in_commit text collate "C",
  add constraint notes_mentioned_in_check check (
    num_nonnulls(mentioned_in_merge_request_id, mentioned_in_commit) <= 1
    and (mentioned_in_project_id is null) = (mentioned_in_commit is null));
create unique index notes_mentioned_in_merge_request on notes (
  mentioned_in_merge_request_id, issue_id, epic_id, merge_request_id, project_id, commit_sha) nulls not distinct
  where mentioned_in_merge_request_id is not null;
create unique index notes_mentioned_in_commit on notes (
  mentioned_in_project_id, mentioned_in_commit, issue_id, epic_id, merge_request_id, project_id, commit_sha) nulls not distinct
  where mentioned_in_project_id is not null;
