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

-- Memberships that give no access until an owner lets them: each was one of `members`, and has its id.
create table awaiting_members (
  id bigint primary key,
  user_id bigint not null references users on delete cascade,
  project_id bigint references projects on delete cascade,
  namespace_id bigint references namespaces on delete cascade,
  access_level smallint not null,
  expires_at date,
  member_role_id bigint references member_roles on delete set null,
  created_by_id bigint,
  created_at timestamptz(3) not null,
  updated_at timestamptz(3) not null,
  check (num_nonnulls(project_id, namespace_id) = 1)
);
create unique index awaiting_members_namespace on awaiting_members (namespace_id, user_id) where namespace_id is not null;
create unique index awaiting_members_project on awaiting_members (project_id, user_id) where project_id is not null;
create index awaiting_members_user on awaiting_members (user_id);
create index awaiting_members_role on awaiting_members (member_role_id) where member_role_id is not null;
