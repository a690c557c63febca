-- Epics and snippets mention others as issues and merge requests do.
alter table notes
  add column mentioned_in_epic_id bigint references epics (id) on delete cascade,
  add column mentioned_in_snippet_id bigint references snippets (id) on delete cascade,
  drop constraint notes_mentioned_in_check,
  add constraint notes_mentioned_in_check check (
    num_nonnulls(mentioned_in_issue_id, mentioned_in_merge_request_id, mentioned_in_epic_id, mentioned_in_snippet_id,
      mentioned_in_commit) <= 1
    and (mentioned_in_project_id is null) = (mentioned_in_commit is null));
create unique index notes_mentioned_in_epic on notes (
  mentioned_in_epic_id, issue_id, epic_id, merge_request_id, project_id, commit_sha) nulls not distinct
  where mentioned_in_epic_id is not null;
create unique index notes_mentioned_in_snippet on notes (
  mentioned_in_snippet_id, issue_id, epic_id, merge_request_id, project_id, commit_sha) nulls not distinct
  where mentioned_in_snippet_id is not null;
