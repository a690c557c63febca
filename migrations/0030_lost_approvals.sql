-- Whose approvals a new version took, until the note of its push tells it.
alter table merge_requests add column lost_approver_ids bigint[] not null default '{}';
