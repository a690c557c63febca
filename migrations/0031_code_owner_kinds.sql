-- Lists of merge requests ask which rules name a user by an address, or by a role.
create index approval_rules_owner_emails on approval_rules using gin (owner_emails)
  where rule_type = 'code_owner' and owner_emails <> '{}';
create index approval_rules_owner_roles on approval_rules (merge_request_id)
  where rule_type = 'code_owner' and owner_roles <> '{}';
