-- The foundation: people, namespaces, projects, who may reach them, credentials, and what is recorded of their changes.
-- Columns that order or page a list are COLLATE "C", so that order never depends on the host; times are as precise as
-- they are shown, in milliseconds, so that a cursor loses nothing.

create extension if not exists pg_trgm;

-- What all processes on one database must agree on (which secret key seals, whether the first start is done).
create table instance_facts (
  name text primary key,
  value jsonb not null
);

create table application_settings (
  id smallint primary key default 1 check (id = 1),
  values jsonb not null default '{}',
  updated_at timestamptz(3) not null
);

create table feature_gates (
  name text collate "C" primary key,
  value text not null,
  updated_at timestamptz(3) not null
);

create table users (
  id bigint generated always as identity primary key,
  username text collate "C" not null,
  name text collate "C" not null,
  email text collate "C" not null,
  unconfirmed_email text,
  state text not null default 'active'
    check (state in ('active', 'blocked', 'deactivated', 'banned', 'blocked_pending_approval')),
  kind text not null default 'human' check (kind in ('human', 'project_bot', 'group_bot', 'ghost')),
  admin boolean not null default false,
  auditor boolean not null default false,
  external boolean not null default false,
  password_hash text,
  password_changed_at timestamptz(3),
  confirmed_at timestamptz(3),
  confirmation_digest bytea,
  failed_attempts integer not null default 0,
  locked_at timestamptz(3),
  otp_secret_sealed text,
  otp_enabled_at timestamptz(3),
  otp_required_since timestamptz(3),
  otp_last_step bigint,
  otp_recovery_digests bytea[] not null default '{}',
  note text,
  bio text not null default '',
  location text,
  public_email text,
  commit_email text,
  linkedin text not null default '',
  twitter text not null default '',
  discord text not null default '',
  github text not null default '',
  website_url text not null default '',
  organization text,
  job_title text not null default '',
  pronouns text,
  avatar text,
  projects_limit integer not null,
  can_create_group boolean not null,
  private_profile boolean not null default false,
  theme_id integer,
  color_scheme_id integer not null default 1,
  preferred_language text not null default 'en',
  timezone text,
  preferences jsonb not null default '{}',
  status jsonb,
  status_clears_at timestamptz(3),
  enterprise_group_id bigint,
  enterprise_group_associated_at timestamptz(3),
  created_by_id bigint,
  current_sign_in_at timestamptz(3),
  last_sign_in_at timestamptz(3),
  last_activity_on date,
  deletion text check (deletion in ('reassign', 'hard')),
  created_at timestamptz(3) not null,
  updated_at timestamptz(3) not null
);
create unique index users_username on users (lower(username) collate "C");
create index users_order_username on users (username, id);
create index users_order_name on users (name, id);
create index users_order_created_at on users (created_at, id);
create index users_order_updated_at on users (updated_at, id);
create index users_search on users using gin (name gin_trgm_ops, username gin_trgm_ops);
create index users_public_email on users (lower(public_email) collate "C") where public_email is not null;
create index users_enterprise_group on users (enterprise_group_id) where enterprise_group_id is not null;
create index users_deletion on users (id) where deletion is not null;

create table emails (
  id bigint generated always as identity primary key,
  user_id bigint not null references users (id) on delete cascade,
  email text collate "C" not null,
  confirmed_at timestamptz(3),
  confirmation_digest bytea,
  created_at timestamptz(3) not null,
  updated_at timestamptz(3) not null
);
create unique index emails_email on emails (lower(email) collate "C");
create index emails_user on emails (user_id);

create table identities (
  id bigint generated always as identity primary key,
  user_id bigint not null references users (id) on delete cascade,
  provider text collate "C" not null,
  extern_uid text collate "C" not null,
  unique (user_id, provider)
);
create unique index identities_extern on identities (provider, extern_uid);

create table ssh_keys (
  id bigint generated always as identity primary key,
  user_id bigint not null references users (id) on delete cascade,
  title text not null,
  key text not null,
  fingerprint text not null,
  fingerprint_sha256 text not null,
  usage_type text not null check (usage_type in ('auth', 'signing', 'auth_and_signing')),
  expires_at timestamptz(3),
  last_used_at timestamptz(3),
  created_at timestamptz(3) not null,
  updated_at timestamptz(3) not null
);
create unique index ssh_keys_fingerprint on ssh_keys (fingerprint_sha256);
create index ssh_keys_user on ssh_keys (user_id);

create table gpg_keys (
  id bigint generated always as identity primary key,
  user_id bigint not null references users (id) on delete cascade,
  key text not null,
  fingerprint text not null unique,
  created_at timestamptz(3) not null,
  updated_at timestamptz(3) not null
);
create index gpg_keys_user on gpg_keys (user_id);

create table follows (
  follower_id bigint not null references users (id) on delete cascade,
  followee_id bigint not null references users (id) on delete cascade,
  created_at timestamptz(3) not null,
  primary key (follower_id, followee_id)
);
create index follows_followee on follows (followee_id);

-- Groups and the personal namespaces of users share one sequence of ids and one space of full paths.
create table namespaces (
  id bigint generated always as identity primary key,
  kind text not null check (kind in ('user', 'group')),
  parent_id bigint references namespaces (id),
  owner_id bigint references users (id),
  ancestor_ids bigint[] not null,
  name text collate "C" not null,
  path text collate "C" not null,
  full_path text collate "C" not null,
  full_name text not null,
  description text not null default '',
  visibility smallint not null check (visibility in (0, 10, 20)),
  avatar text,
  settings jsonb not null default '{}',
  archived boolean not null default false,
  marked_for_deletion_on date,
  marked_by_id bigint,
  path_before_deletion text,
  deleting boolean not null default false,
  created_at timestamptz(3) not null,
  updated_at timestamptz(3) not null,
  check ((kind = 'user') = (owner_id is not null)),
  check (kind = 'group' or parent_id is null)
);
comment on column namespaces.ancestor_ids is 'From the root to the namespace itself, both included.';
create unique index namespaces_full_path on namespaces (lower(full_path) collate "C");
create unique index namespaces_owner on namespaces (owner_id) where owner_id is not null;
create index namespaces_parent on namespaces (parent_id) where parent_id is not null;
create index namespaces_ancestors on namespaces using gin (ancestor_ids);
create index namespaces_groups_name on namespaces (name, id) where kind = 'group' and not deleting;
create index namespaces_public_groups_name on namespaces (name, id)
  where kind = 'group' and visibility = 20 and not deleting;
create index namespaces_shown_groups_name on namespaces (name, id)
  where kind = 'group' and visibility >= 10 and not deleting;
create index namespaces_groups_path on namespaces (path, id) where kind = 'group' and not deleting;
create index namespaces_search on namespaces using gin (name gin_trgm_ops, path gin_trgm_ops);
create index namespaces_deleting on namespaces (id) where deleting;
create index namespaces_marked on namespaces (marked_for_deletion_on) where marked_for_deletion_on is not null;

create table projects (
  id bigint generated always as identity primary key,
  namespace_id bigint not null references namespaces (id),
  creator_id bigint,
  name text collate "C" not null,
  path text collate "C" not null,
  description text,
  visibility smallint not null check (visibility in (0, 10, 20)),
  default_branch text,
  avatar text,
  topics text[] not null default '{}',
  settings jsonb not null default '{}',
  archived boolean not null default false,
  star_count integer not null default 0,
  forks_count integer not null default 0,
  forked_from_id bigint references projects (id) on delete set null,
  repository_storage text not null default 'default',
  marked_for_deletion_on date,
  marked_by_id bigint,
  path_before_deletion text,
  name_before_deletion text,
  deleting boolean not null default false,
  last_activity_at timestamptz(3) not null,
  created_at timestamptz(3) not null,
  updated_at timestamptz(3) not null
);
create unique index projects_path on projects (namespace_id, lower(path) collate "C");
create unique index projects_name on projects (namespace_id, lower(name) collate "C");
-- Each order a list can take, over everything (administrators) and over what everybody sees. What each list asks of a
-- project is included, so that the first ten thousand are counted without reading them.
create index projects_created_at on projects (created_at, id) include (marked_for_deletion_on) where not deleting;
create index projects_updated_at on projects (updated_at, id) where not deleting;
create index projects_last_activity_at on projects (last_activity_at, id) where not deleting;
create index projects_order_name on projects (name, id) where not deleting;
create index projects_order_path on projects (path, id) where not deleting;
create index projects_star_count on projects (star_count, id) where not deleting;
create index projects_shown_id on projects (id) include (marked_for_deletion_on) where visibility >= 10 and not deleting;
create index projects_shown_created_at on projects (created_at, id) include (marked_for_deletion_on)
  where visibility >= 10 and not deleting;
create index projects_public_id on projects (id) include (marked_for_deletion_on) where visibility = 20 and not deleting;
create index projects_public_created_at on projects (created_at, id) include (marked_for_deletion_on)
  where visibility = 20 and not deleting;
create index projects_namespace on projects (namespace_id, id) include (visibility, marked_for_deletion_on)
  where not deleting;
create index projects_namespace_created_at on projects (namespace_id, created_at, id)
  include (visibility, marked_for_deletion_on) where not deleting;
create index projects_forked_from on projects (forked_from_id) where forked_from_id is not null;
create index projects_topics on projects using gin (topics);
create index projects_search on projects using gin (name gin_trgm_ops, path gin_trgm_ops, description gin_trgm_ops);
create index projects_creator on projects (creator_id);
create index projects_storage on projects (repository_storage, id);
create index projects_deleting on projects (id) where deleting;
create index projects_marked on projects (marked_for_deletion_on) where marked_for_deletion_on is not null;

-- Full paths that projects had before, lower-cased (spec: General request rules, 6).
create table project_redirects (
  path text collate "C" primary key,
  project_id bigint not null references projects (id) on delete cascade
);
create index project_redirects_project on project_redirects (project_id);

create table members (
  id bigint generated always as identity primary key,
  user_id bigint not null references users (id) on delete cascade,
  project_id bigint references projects (id) on delete cascade,
  namespace_id bigint references namespaces (id) on delete cascade,
  access_level smallint not null check (access_level in (5, 10, 15, 20, 30, 40, 50)),
  expires_at date,
  created_by_id bigint,
  created_at timestamptz(3) not null,
  updated_at timestamptz(3) not null,
  check (num_nonnulls(project_id, namespace_id) = 1)
);
create unique index members_project on members (project_id, user_id) where project_id is not null;
create unique index members_namespace on members (namespace_id, user_id) where namespace_id is not null;
create index members_user on members (user_id);
create index members_expires_at on members (expires_at) where expires_at is not null;

create table access_requests (
  id bigint generated always as identity primary key,
  user_id bigint not null references users (id) on delete cascade,
  project_id bigint references projects (id) on delete cascade,
  namespace_id bigint references namespaces (id) on delete cascade,
  requested_at timestamptz(3) not null,
  check (num_nonnulls(project_id, namespace_id) = 1)
);
create unique index access_requests_project on access_requests (project_id, user_id) where project_id is not null;
create unique index access_requests_namespace on access_requests (namespace_id, user_id) where namespace_id is not null;
create index access_requests_user on access_requests (user_id);

create table invitations (
  id bigint generated always as identity primary key,
  project_id bigint references projects (id) on delete cascade,
  namespace_id bigint references namespaces (id) on delete cascade,
  email text collate "C" not null,
  token_sealed text not null,
  token_digest bytea not null unique,
  access_level smallint not null check (access_level in (5, 10, 15, 20, 30, 40, 50)),
  expires_at date,
  created_by_id bigint references users (id) on delete set null,
  created_at timestamptz(3) not null,
  updated_at timestamptz(3) not null,
  check (num_nonnulls(project_id, namespace_id) = 1)
);
create unique index invitations_project on invitations (project_id, lower(email) collate "C") where project_id is not null;
create unique index invitations_namespace on invitations (namespace_id, lower(email) collate "C")
  where namespace_id is not null;
create index invitations_created_by on invitations (created_by_id);
create index invitations_email on invitations (lower(email) collate "C");

create table project_group_links (
  id bigint generated always as identity primary key,
  project_id bigint not null references projects (id) on delete cascade,
  group_id bigint not null references namespaces (id) on delete cascade,
  group_access smallint not null,
  expires_at date,
  created_at timestamptz(3) not null,
  unique (project_id, group_id)
);
create index project_group_links_group on project_group_links (group_id);

create table group_group_links (
  id bigint generated always as identity primary key,
  shared_group_id bigint not null references namespaces (id) on delete cascade,
  shared_with_group_id bigint not null references namespaces (id) on delete cascade,
  group_access smallint not null,
  expires_at date,
  created_at timestamptz(3) not null,
  unique (shared_group_id, shared_with_group_id)
);
create index group_group_links_with on group_group_links (shared_with_group_id);

create table stars (
  project_id bigint not null references projects (id) on delete cascade,
  user_id bigint not null references users (id) on delete cascade,
  starred_at timestamptz(3) not null,
  primary key (project_id, user_id)
);
create index stars_user on stars (user_id, project_id);

create table custom_attributes (
  id bigint generated always as identity primary key,
  user_id bigint references users (id) on delete cascade,
  project_id bigint references projects (id) on delete cascade,
  namespace_id bigint references namespaces (id) on delete cascade,
  key text collate "C" not null,
  value text not null,
  updated_at timestamptz(3) not null,
  check (num_nonnulls(user_id, project_id, namespace_id) = 1)
);
create unique index custom_attributes_user on custom_attributes (user_id, key) where user_id is not null;
create unique index custom_attributes_project on custom_attributes (project_id, key) where project_id is not null;
create unique index custom_attributes_namespace on custom_attributes (namespace_id, key) where namespace_id is not null;

-- Every bearer of a user's rights that the API takes: digests only.
create table access_tokens (
  id bigint generated always as identity primary key,
  kind text not null check (kind in ('personal', 'impersonation', 'project', 'group', 'oauth', 'job')),
  digest bytea not null unique,
  user_id bigint not null references users (id) on delete cascade,
  project_id bigint references projects (id) on delete cascade,
  namespace_id bigint references namespaces (id) on delete cascade,
  access_level smallint,
  name text not null,
  description text,
  scopes text[] not null,
  family_id bigint,
  created_by_id bigint,
  expires_at timestamptz(3),
  revoked_at timestamptz(3),
  last_used_at timestamptz(3),
  created_at timestamptz(3) not null,
  updated_at timestamptz(3) not null,
  check ((kind = 'project') <= (project_id is not null)),
  check ((kind = 'group') <= (namespace_id is not null))
);
create index access_tokens_user on access_tokens (user_id, id);
create index access_tokens_project on access_tokens (project_id, id) where project_id is not null;
create index access_tokens_namespace on access_tokens (namespace_id, id) where namespace_id is not null;
create index access_tokens_family on access_tokens (family_id) where family_id is not null;

create table deploy_tokens (
  id bigint generated always as identity primary key,
  digest bytea not null unique,
  project_id bigint references projects (id) on delete cascade,
  namespace_id bigint references namespaces (id) on delete cascade,
  name text not null,
  username text not null,
  scopes text[] not null,
  created_by_id bigint,
  expires_at timestamptz(3),
  revoked_at timestamptz(3),
  created_at timestamptz(3) not null,
  updated_at timestamptz(3) not null,
  check (num_nonnulls(project_id, namespace_id) = 1)
);
create index deploy_tokens_project on deploy_tokens (project_id) where project_id is not null;
create index deploy_tokens_namespace on deploy_tokens (namespace_id) where namespace_id is not null;

create table sessions (
  id bigint generated always as identity primary key,
  digest bytea not null unique,
  user_id bigint not null references users (id) on delete cascade,
  created_at timestamptz(3) not null,
  last_used_at timestamptz(3) not null
);
create index sessions_user on sessions (user_id);

create table project_feature_flags (
  id bigint generated always as identity primary key,
  project_id bigint not null references projects (id) on delete cascade,
  name text collate "C" not null,
  description text,
  active boolean not null default true,
  strategies jsonb not null default '[]',
  created_at timestamptz(3) not null,
  updated_at timestamptz(3) not null,
  unique (project_id, name)
);

-- Written with each change, in its transaction: what happened (read by the feed), who did it (audit), and the fact to
-- be heard after the commit (outbox).
create table activity_events (
  id bigint generated always as identity primary key,
  project_id bigint,
  namespace_id bigint,
  author_id bigint not null,
  action text not null,
  target_type text,
  target_id bigint,
  details jsonb,
  created_at timestamptz(3) not null
);
create index activity_events_project on activity_events (project_id, id);
create index activity_events_author on activity_events (author_id, id);
create index activity_events_namespace on activity_events (namespace_id, id) where namespace_id is not null;

create table audit_events (
  id bigint generated always as identity primary key,
  author_id bigint not null,
  entity_type text not null check (entity_type in ('User', 'Group', 'Project', 'InstanceScope')),
  entity_id bigint not null,
  event_name text not null,
  details jsonb not null,
  created_at timestamptz(3) not null
);
create index audit_events_entity on audit_events (entity_type, entity_id, id);
create index audit_events_author on audit_events (author_id, id);
create index audit_events_created_at on audit_events (created_at);

create table outbox (
  id bigint generated always as identity primary key,
  fact text not null,
  payload jsonb not null,
  created_at timestamptz(3) not null
);

create table rate_limit_windows (
  key text collate "C" not null,
  window_start timestamptz(3) not null,
  leased bigint not null,
  primary key (key, window_start)
);
create index rate_limit_windows_start on rate_limit_windows (window_start);
