-- Pipelines of merge requests: `refs/merge-requests/:iid/head` is their ref.
alter table pipelines
  add column merge_request_id bigint references merge_requests (id) on delete set null,
  -- What its jobs are told of merge requests, as it was when the pipeline was made: names and values.
  add column merge_request_variables jsonb not null default '[]';
create index pipelines_merge_request on pipelines (merge_request_id, id) where merge_request_id is not null;
-- Those that wait for the pipeline of their newest commit.
create index merge_requests_waiting on merge_requests (head_sha) where auto_merge is not null;
