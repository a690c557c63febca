-- Approvals of merge requests, and rules of their own, which may be made from one of the project's.
create table merge_request_approvals (
  id bigint generated always as identity primary key,
  merge_request_id bigint not null references merge_requests (id) on delete cascade,
  user_id bigint not null references users (id) on delete cascade,
  created_at timestamptz (3) not null
);
create unique index merge_request_approvals_once on merge_request_approvals (merge_request_id, user_id);
create index merge_request_approvals_user on merge_request_approvals (user_id, merge_request_id);

-- The addresses of the committers of the latest version, in lower case.
create table merge_request_committers (
  merge_request_id bigint not null references merge_requests (id) on delete cascade,
  email text collate "C" not null,
  primary key (merge_request_id, email)
);

alter table approval_rules
  add column merge_request_id bigint references merge_requests (id) on delete cascade,
  add column source_rule_id bigint references approval_rules (id) on delete set null,
  drop constraint approval_rules_check,
  add constraint approval_rules_check check (num_nonnulls(project_id, namespace_id, merge_request_id) = 1);
create index approval_rules_merge_request on approval_rules (merge_request_id, id) where merge_request_id is not null;
create index approval_rules_source on approval_rules (source_rule_id) where source_rule_id is not null;
create unique index approval_rules_merge_request_name on approval_rules (merge_request_id, name)
  where rule_type <> 'any_approver';
create unique index approval_rules_merge_request_any on approval_rules (merge_request_id) where rule_type = 'any_approver';
