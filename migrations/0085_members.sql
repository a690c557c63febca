-- Accounts of programs, which nobody signs in to; a group's are managed by its owners.
alter table users drop constraint users_kind_check;
alter table users add constraint users_kind_check
  check (kind in ('human', 'project_bot', 'group_bot', 'service_account', 'ghost', 'alert_bot'));
alter table users add column provisioned_by_group_id bigint references namespaces on delete set null;
create index users_provisioned on users (provisioned_by_group_id, id) where provisioned_by_group_id is not null;
create index users_service_accounts on users (id) where kind = 'service_account';

-- Roles with more than their base role: of the instance, or of a top-level group. A membership that has one has its base role, too.
create table member_roles (
  id bigint generated always as identity primary key,
  namespace_id bigint references namespaces on delete cascade,
  name text not null,
  description text,
  base_access_level smallint not null check (base_access_level in (10, 15, 20, 30, 40, 50)),
  abilities text[] not null,
  created_at timestamptz(3) not null,
  updated_at timestamptz(3) not null
);
create unique index member_roles_name on member_roles (coalesce(namespace_id, 0), lower(name) collate "C");
alter table members add column member_role_id bigint references member_roles on delete set null;
create index members_role on members (member_role_id, user_id) where member_role_id is not null;
create index members_with_role on members (user_id) where member_role_id is not null;
alter table invitations add column member_role_id bigint references member_roles on delete set null;
create index invitations_role on invitations (member_role_id) where member_role_id is not null;
