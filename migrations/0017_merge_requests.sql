-- Merge requests. `project_id` is the target's project. A version is what the source had when it was pushed: its diff is
-- that of base and head. `head_sha` is the head of the latest version; the commits are those of that version, newest first.
create table merge_requests (
  id bigint generated always as identity,
  iid integer not null,
  project_id bigint not null references projects (id) on delete cascade,
  source_project_id bigint references projects (id) on delete set null,
  source_branch text collate "C" not null,
  target_branch text collate "C" not null,
  author_id bigint not null,
  title text not null,
  description text,
  state text not null default 'opened' check (state in ('opened', 'closed', 'merged', 'locked')),
  draft boolean not null,
  head_sha text collate "C",
  commits_count integer not null default 0,
  -- What the merge was last judged for: heads of source and target.
  merge_status text not null default 'unchecked'
    check (merge_status in ('unchecked', 'can_be_merged', 'cannot_be_merged', 'cannot_be_merged_recheck')),
  -- Whether the target has commits that the source lacks.
  is_behind boolean not null default false,
  judged_source_sha text collate "C",
  judged_target_sha text collate "C",
  -- Where the last push that a note tells of ended.
  noted_sha text collate "C",
  merge_commit_sha text collate "C",
  squash_commit_sha text collate "C",
  merge_error text,
  -- While it is being merged, and `locked`: what the process with this id is about to write.
  merging jsonb,
  merge_user_id bigint,
  merged_at timestamptz (3),
  closed_by_id bigint,
  closed_at timestamptz (3),
  -- Waits for its checks, as `merge_user_id` asked for it.
  auto_merge jsonb,
  merge_after timestamptz (3),
  squash boolean not null default false,
  force_remove_source_branch boolean,
  should_remove_source_branch boolean,
  allow_collaboration boolean not null default false,
  discussion_locked boolean,
  milestone_id bigint references milestones (id) on delete set null,
  time_estimate integer not null default 0,
  user_notes_count integer not null default 0,
  upvotes integer not null default 0,
  downvotes integer not null default 0,
  prepared_at timestamptz (3),
  last_edited_at timestamptz (3),
  created_at timestamptz (3) not null,
  updated_at timestamptz (3) not null,
  primary key (id) include (project_id, state, author_id)
);
create unique index merge_requests_project_iid on merge_requests (project_id, iid);
create unique index merge_requests_open_once on merge_requests (project_id, source_project_id, source_branch, target_branch)
  where state in ('opened', 'locked');
create index merge_requests_project_created_at on merge_requests (project_id, created_at, id);
create index merge_requests_project_updated_at on merge_requests (project_id, updated_at, id);
create index merge_requests_project_merged_at on merge_requests (project_id, merged_at, id) where merged_at is not null;
create index merge_requests_project_state on merge_requests (project_id, state, created_at, id);
create index merge_requests_author on merge_requests (author_id, id);
create index merge_requests_merge_user on merge_requests (merge_user_id) where merge_user_id is not null;
create index merge_requests_merge_commit on merge_requests (merge_commit_sha) where merge_commit_sha is not null;
create index merge_requests_squash_commit on merge_requests (squash_commit_sha) where squash_commit_sha is not null;
create index merge_requests_closed_by on merge_requests (closed_by_id) where closed_by_id is not null;
create index merge_requests_milestone on merge_requests (milestone_id, id) where milestone_id is not null;
create index merge_requests_source on merge_requests (source_project_id, source_branch, id);
create index merge_requests_target on merge_requests (project_id, target_branch, id) where state = 'opened';
create index merge_requests_search on merge_requests using gin (title gin_trgm_ops, description gin_trgm_ops);

create table merge_request_assignees (
  merge_request_id bigint not null references merge_requests (id) on delete cascade,
  user_id bigint not null,
  primary key (merge_request_id, user_id)
);
create index merge_request_assignees_user on merge_request_assignees (user_id, merge_request_id);

create table merge_request_reviewers (
  merge_request_id bigint not null references merge_requests (id) on delete cascade,
  user_id bigint not null,
  state text not null default 'unreviewed'
    check (state in ('unreviewed', 'reviewed', 'requested_changes', 'approved', 'unapproved', 'review_started')),
  created_at timestamptz (3) not null,
  primary key (merge_request_id, user_id)
);
create index merge_request_reviewers_user on merge_request_reviewers (user_id, merge_request_id);

create table merge_request_versions (
  id bigint generated always as identity primary key,
  merge_request_id bigint not null references merge_requests (id) on delete cascade,
  base_sha text collate "C" not null,
  start_sha text collate "C" not null,
  head_sha text collate "C" not null,
  -- Files that differ, as far as they were counted.
  files integer not null,
  overflows boolean not null default false,
  patch_id text collate "C",
  created_at timestamptz (3) not null
);
create index merge_request_versions_of on merge_request_versions (merge_request_id, id);

create table merge_request_commits (
  merge_request_id bigint not null references merge_requests (id) on delete cascade,
  place integer not null,
  sha text collate "C" not null,
  primary key (merge_request_id, place)
);
create index merge_request_commits_sha on merge_request_commits (sha, merge_request_id);

-- The issues that it closes when it is merged into the default branch, as its texts and commits say.
create table merge_request_closing_issues (
  merge_request_id bigint not null references merge_requests (id) on delete cascade,
  issue_id bigint not null references issues (id) on delete cascade,
  primary key (merge_request_id, issue_id)
);
create index merge_request_closing_issues_issue on merge_request_closing_issues (issue_id, merge_request_id);

alter table project_counters
  add column merge_requests integer not null default 0,
  add column open_merge_requests integer not null default 0;

create function count_open_merge_requests() returns trigger language plpgsql as $$
declare
  opened integer := case tg_op when 'DELETE' then 0 else (new.state in ('opened', 'locked'))::integer end
    - case tg_op when 'INSERT' then 0 else (old.state in ('opened', 'locked'))::integer end;
begin
  if opened <> 0 then
    update project_counters set open_merge_requests = open_merge_requests + opened
    where project_id = coalesce(new.project_id, old.project_id);
  end if;
  return null;
end $$;
create trigger merge_requests_gone after delete on merge_requests for each row execute function count_open_merge_requests();
create trigger merge_requests_changed after update of state on merge_requests for each row
  execute function count_open_merge_requests();

alter table label_links
  add column merge_request_id bigint references merge_requests (id) on delete cascade,
  drop constraint label_links_check,
  add constraint label_links_check check (num_nonnulls(issue_id, epic_id, merge_request_id) = 1);
create unique index label_links_merge_request on label_links (merge_request_id, label_id) where merge_request_id is not null;
create index label_links_label_merge_request on label_links (label_id, merge_request_id) where merge_request_id is not null;

alter table notes
  add column merge_request_id bigint references merge_requests (id) on delete cascade,
  -- Whether the line of its position has changed since: then it stays where it was.
  add column outdated boolean not null default false,
  drop constraint notes_check,
  add constraint notes_check
    check (num_nonnulls(issue_id, epic_id, snippet_id, commit_sha, alert_id, merge_request_id) = 1);
create index notes_merge_request on notes (merge_request_id, created_at, id) where merge_request_id is not null;
-- What an issue was mentioned in.
create index notes_mentions on notes (issue_id, id) where system_action = 'cross_reference';

alter table award_emoji
  add column merge_request_id bigint references merge_requests (id) on delete cascade,
  drop constraint award_emoji_check,
  add constraint award_emoji_check check (num_nonnulls(issue_id, epic_id, snippet_id, note_id, merge_request_id) = 1);
drop index award_emoji_once;
create unique index award_emoji_once
  on award_emoji (issue_id, epic_id, snippet_id, note_id, merge_request_id, user_id, name) nulls not distinct;
create index award_emoji_merge_request on award_emoji (merge_request_id, id) where merge_request_id is not null;

alter table todos
  add column merge_request_id bigint references merge_requests (id) on delete cascade,
  drop constraint todos_check,
  add constraint todos_check check (num_nonnulls(issue_id, epic_id, commit_sha, alert_id, merge_request_id) = 1);
create index todos_merge_request on todos (merge_request_id, user_id) where merge_request_id is not null;

alter table subscriptions
  add column merge_request_id bigint references merge_requests (id) on delete cascade,
  drop constraint subscriptions_check,
  add constraint subscriptions_check check (num_nonnulls(issue_id, epic_id, label_id, merge_request_id) = 1);
drop index subscriptions_once;
create unique index subscriptions_once
  on subscriptions (user_id, issue_id, epic_id, label_id, project_id, merge_request_id) nulls not distinct;
create index subscriptions_merge_request on subscriptions (merge_request_id) where merge_request_id is not null;

alter table resource_events
  add column merge_request_id bigint references merge_requests (id) on delete cascade,
  -- What closed an issue.
  add column source_merge_request_id bigint references merge_requests (id) on delete set null,
  add column source_commit text collate "C",
  drop constraint resource_events_check,
  add constraint resource_events_check check (num_nonnulls(issue_id, epic_id, merge_request_id) = 1);
create index resource_events_merge_request on resource_events (merge_request_id, kind, id) where merge_request_id is not null;
create index resource_events_source on resource_events (source_merge_request_id) where source_merge_request_id is not null;

alter table timelogs
  add column merge_request_id bigint references merge_requests (id) on delete cascade,
  alter column issue_id drop not null,
  add constraint timelogs_check check (num_nonnulls(issue_id, merge_request_id) = 1);
create index timelogs_merge_request on timelogs (merge_request_id) where merge_request_id is not null;
