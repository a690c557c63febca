-- Lists of merge requests ask which rules name a user.
create index approval_rules_owner_names on approval_rules using gin (owner_names) where rule_type = 'code_owner';
