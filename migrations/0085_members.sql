-- Accounts of programs, which nobody signs in to; a group's are managed by its owners.
alter table users drop constraint users_kind_check;
alter table users add constraint users_kind_check
  check (kind in ('human', 'project_bot', 'group_bot', 'service_account', 'ghost', 'alert_bot'));
alter table users add column provisioned_by_group_id bigint references namespaces on delete set null;
create index users_provisioned on users (provisioned_by_group_id, id) where provisioned_by_group_id is not null;
create index users_service_accounts on users (id) where kind = 'service_account';
