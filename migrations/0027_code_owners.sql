-- Rules that code owners files make for merge requests.
alter table approval_rules
  drop constraint approval_rules_rule_type_check,
  add constraint approval_rules_rule_type_check
    check (rule_type in ('any_approver', 'regular', 'report_approver', 'code_owner')),
  -- Null also for a file as a whole, when it is too much to tell who owns what.
  add column section text,
  -- Owners as the file names them: paths of users and groups and addresses, in lower case, and roles of direct members.
  add column owner_names text[] not null default '{}',
  add column owner_emails text[] not null default '{}',
  add column owner_roles smallint[] not null default '{}',
  add constraint approval_rules_code_owner check (rule_type <> 'code_owner' or merge_request_id is not null);
-- A pattern stands in as many sections as it likes.
drop index approval_rules_merge_request_name;
create unique index approval_rules_merge_request_name on approval_rules (merge_request_id, name)
  where rule_type not in ('any_approver', 'code_owner');

-- The contents of the file by which the rules were made; empty where there is none, null while that is not known.
alter table merge_requests add column code_owners_sha text collate "C";

-- Those that are open are judged again.
insert into outbox (fact, payload, created_at)
  select 'merge_requests_unjudged', jsonb_build_object('project_id', project_id, 'branch', target_branch), now()
  from merge_requests where state = 'opened' and merge_status in ('can_be_merged', 'cannot_be_merged')
  group by project_id, target_branch;
update merge_requests set judged_target_sha = null,
    merge_status = case merge_status when 'cannot_be_merged' then 'cannot_be_merged_recheck' else 'unchecked' end
  where state = 'opened' and merge_status in ('can_be_merged', 'cannot_be_merged');
