-- The approvals that one merge request asks for, where they are more than its project asks of anybody.
alter table merge_requests add column approvals_before_merge smallint
  check (approvals_before_merge between 0 and 100);
