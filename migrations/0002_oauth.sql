-- The OAuth 2.0 identity provider: applications, what people granted to them, and the keys that sign identities.

create table oauth_applications (
  id bigint generated always as identity primary key,
  uid text collate "C" not null unique,
  -- Null for dynamically registered applications, which have none.
  secret_digest bytea,
  name text collate "C" not null,
  redirect_uris text[] not null,
  scopes text[] not null,
  confidential boolean not null,
  trusted boolean not null default false,
  dynamic boolean not null default false,
  -- Neither for applications of the instance.
  user_id bigint references users (id) on delete cascade,
  namespace_id bigint references namespaces (id) on delete cascade,
  created_by_id bigint,
  created_at timestamptz(3) not null,
  updated_at timestamptz(3) not null,
  check (num_nonnulls(user_id, namespace_id) <= 1)
);
create index oauth_applications_user on oauth_applications (user_id, id) where user_id is not null;
create index oauth_applications_namespace on oauth_applications (namespace_id, id) where namespace_id is not null;

-- What one approval, device, password or client gave: everything issued for it hangs on it, and ends with it.
create table oauth_grants (
  id bigint generated always as identity primary key,
  -- Null for the password grant of a client that does not say who it is.
  application_id bigint references oauth_applications (id) on delete cascade,
  -- Null for client credentials.
  user_id bigint references users (id) on delete cascade,
  kind text not null check (kind in ('authorization_code', 'device_code', 'password', 'client_credentials')),
  scopes text[] not null,
  code_digest bytea unique,
  code_expires_at timestamptz(3),
  code_used_at timestamptz(3),
  redirect_uri text,
  code_challenge text,
  nonce text,
  -- When the user proved who they are.
  authenticated_at timestamptz(3),
  revoked_at timestamptz(3),
  created_at timestamptz(3) not null,
  check ((user_id is null) = (kind = 'client_credentials')),
  check ((code_digest is null) = (code_expires_at is null))
);
create index oauth_grants_application on oauth_grants (application_id, user_id) where application_id is not null;
create index oauth_grants_user on oauth_grants (user_id, id) where user_id is not null;
create index oauth_grants_code_expiry on oauth_grants (code_expires_at) where code_expires_at is not null and code_used_at is null;
create index oauth_grants_revoked on oauth_grants (revoked_at) where revoked_at is not null;
create index oauth_grants_client_credentials on oauth_grants (created_at) where kind = 'client_credentials';

create table oauth_refresh_tokens (
  id bigint generated always as identity primary key,
  digest bytea not null unique,
  grant_id bigint not null references oauth_grants (id) on delete cascade,
  used_at timestamptz(3),
  created_at timestamptz(3) not null
);
create index oauth_refresh_tokens_grant on oauth_refresh_tokens (grant_id);
create index oauth_refresh_tokens_used on oauth_refresh_tokens (used_at) where used_at is not null;
create index oauth_refresh_tokens_unused on oauth_refresh_tokens (created_at) where used_at is null;

create table oauth_devices (
  id bigint generated always as identity primary key,
  application_id bigint not null references oauth_applications (id) on delete cascade,
  digest bytea not null unique,
  user_code text collate "C" not null unique,
  scopes text[] not null,
  state text not null default 'pending' check (state in ('pending', 'authorized', 'denied', 'redeemed')),
  user_id bigint references users (id) on delete cascade,
  authenticated_at timestamptz(3),
  interval_seconds integer not null,
  last_polled_at timestamptz(3),
  expires_at timestamptz(3) not null,
  created_at timestamptz(3) not null,
  check ((state in ('pending')) = (user_id is null))
);
create index oauth_devices_application on oauth_devices (application_id);
create index oauth_devices_user on oauth_devices (user_id) where user_id is not null;
create index oauth_devices_expiry on oauth_devices (expires_at);

-- The newest signs; the others are published until what they signed has expired.
create table oauth_signing_keys (
  id bigint generated always as identity primary key,
  kid text collate "C" not null unique,
  public_jwk jsonb not null,
  private_key_sealed text not null,
  created_at timestamptz(3) not null,
  retired_at timestamptz(3)
);

create unique index oauth_signing_keys_current on oauth_signing_keys ((true)) where retired_at is null;

-- OAuth access tokens are access tokens like others, of a grant; those of client credentials are nobody's.
alter table access_tokens add column grant_id bigint references oauth_grants (id) on delete cascade;
alter table access_tokens alter column user_id drop not null;
alter table access_tokens add check (grant_id is null or kind = 'oauth');
alter table access_tokens add check (user_id is not null or kind = 'oauth');
create index access_tokens_grant on access_tokens (grant_id) where grant_id is not null;
create index access_tokens_oauth_expiry on access_tokens (expires_at) where kind = 'oauth';

-- Sessions show where they are from, so that their owner knows them.
alter table sessions add column address text;
alter table sessions add column user_agent text;

-- A link that sets a new password.
alter table users add column reset_digest bytea;
alter table users add column reset_sent_at timestamptz(3);
create unique index users_reset on users (reset_digest) where reset_digest is not null;
