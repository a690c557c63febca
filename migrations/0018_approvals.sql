-- Approvals of merge requests: rules of projects and groups, and settings of both.
create table approval_rules (
  id bigint generated always as identity primary key,
  project_id bigint references projects on delete cascade,
  namespace_id bigint references namespaces on delete cascade,
  name text not null,
  rule_type text not null check (rule_type in ('any_approver', 'regular', 'report_approver')),
  report_type text check (report_type in ('code_coverage')),
  approvals_required integer not null check (approvals_required between 0 and 100),
  applies_to_all_protected_branches boolean not null default false,
  created_at timestamptz(3) not null,
  updated_at timestamptz(3) not null,
  check (num_nonnulls(project_id, namespace_id) = 1),
  check ((rule_type = 'report_approver') = (report_type is not null))
);
create index approval_rules_project on approval_rules (project_id, id) where project_id is not null;
create index approval_rules_group on approval_rules (namespace_id, id) where namespace_id is not null;
create unique index approval_rules_project_name on approval_rules (project_id, name) where rule_type <> 'any_approver';
create unique index approval_rules_group_name on approval_rules (namespace_id, name) where rule_type <> 'any_approver';
create unique index approval_rules_project_any on approval_rules (project_id) where rule_type = 'any_approver';
create unique index approval_rules_group_any on approval_rules (namespace_id) where rule_type = 'any_approver';

create table approval_rule_users (
  rule_id bigint not null references approval_rules on delete cascade,
  user_id bigint not null references users on delete cascade,
  primary key (rule_id, user_id)
);
create index approval_rule_users_user on approval_rule_users (user_id);

create table approval_rule_groups (
  rule_id bigint not null references approval_rules on delete cascade,
  group_id bigint not null references namespaces on delete cascade,
  primary key (rule_id, group_id)
);
create index approval_rule_groups_group on approval_rule_groups (group_id);

-- A rule without any is for all branches.
create table approval_rule_branches (
  rule_id bigint not null references approval_rules on delete cascade,
  protected_branch_id bigint not null references protected_branches on delete cascade,
  primary key (rule_id, protected_branch_id)
);
create index approval_rule_branches_branch on approval_rule_branches (protected_branch_id);

-- Of a project, or of a top-level group for the projects in it; without a row the defaults hold.
create table approval_settings (
  id bigint generated always as identity primary key,
  project_id bigint unique references projects on delete cascade,
  namespace_id bigint unique references namespaces on delete cascade,
  allow_author_approval boolean not null,
  allow_committer_approval boolean not null,
  allow_overrides_to_approver_list_per_merge_request boolean not null,
  retain_approvals_on_push boolean not null,
  selective_code_owner_removals boolean not null,
  require_reauthentication_to_approve boolean not null,
  check (num_nonnulls(project_id, namespace_id) = 1)
);

-- Projects whose setting asked for approvals have them as a rule.
insert into approval_rules (project_id, name, rule_type, approvals_required, created_at, updated_at)
  select id, 'All Members', 'any_approver', least((settings ->> 'approvals_before_merge')::bigint, 100), now(), now()
  from projects where (settings ->> 'approvals_before_merge')::bigint > 0;
update projects set settings = settings || '{"approvals_before_merge": 100}'
  where (settings ->> 'approvals_before_merge')::bigint > 100;
