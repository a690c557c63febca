-- Commits of the target's repository that a merge request shows beside its own, for its reviewers.
create table merge_request_context_commits (
  id bigint generated always as identity primary key,
  merge_request_id bigint not null references merge_requests (id) on delete cascade,
  sha text collate "C" not null,
  committed_at timestamptz (3) not null
);
create unique index merge_request_context_commits_once on merge_request_context_commits (merge_request_id, sha);
