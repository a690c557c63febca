-- What administrators tell everybody.
create table broadcast_messages (
  id bigint generated always as identity primary key,
  message text not null,
  starts_at timestamp(3) with time zone not null,
  ends_at timestamp(3) with time zone not null,
  color text not null,
  font text not null,
  target_access_levels integer[] not null,
  target_path text,
  broadcast_type text not null,
  theme text not null,
  dismissable boolean not null,
  created_at timestamp(3) with time zone not null,
  updated_at timestamp(3) with time zone not null
);
create index broadcast_messages_ends_at on broadcast_messages (ends_at);

-- How the instance looks: one row, or none. Pictures as avatars are.
create table appearance (
  id integer primary key check (id = 1),
  title text not null,
  description text not null,
  pwa_name text not null,
  pwa_short_name text not null,
  pwa_description text not null,
  member_guidelines text not null,
  new_project_guidelines text not null,
  profile_image_guidelines text not null,
  header_message text not null,
  footer_message text not null,
  message_background_color text not null,
  message_font_color text not null,
  email_header_and_footer_enabled boolean not null,
  logo text,
  header_logo text,
  favicon text,
  pwa_icon text,
  logo_blob bytea references blobs (sha256)
    generated always as (case when logo ~ '^[0-9a-f]{64}[.]' then decode(left(logo, 64), 'hex') end) stored,
  header_logo_blob bytea references blobs (sha256)
    generated always as (case when header_logo ~ '^[0-9a-f]{64}[.]' then decode(left(header_logo, 64), 'hex') end) stored,
  favicon_blob bytea references blobs (sha256)
    generated always as (case when favicon ~ '^[0-9a-f]{64}[.]' then decode(left(favicon, 64), 'hex') end) stored,
  pwa_icon_blob bytea references blobs (sha256)
    generated always as (case when pwa_icon ~ '^[0-9a-f]{64}[.]' then decode(left(pwa_icon, 64), 'hex') end) stored,
  updated_at timestamp(3) with time zone not null
);
create index appearance_logo_blob on appearance (logo_blob);
create index appearance_header_logo_blob on appearance (header_logo_blob);
create index appearance_favicon_blob on appearance (favicon_blob);
create index appearance_pwa_icon_blob on appearance (pwa_icon_blob);

-- The limits of a plan that differ, or once did, from their defaults, and who changed them.
create table plan_limits (
  plan text collate "C" primary key,
  values jsonb not null,
  history jsonb not null,
  updated_at timestamp(3) with time zone not null
);

-- The pipelines whose jobs count to the limit of active ones.
create index pipelines_alive on pipelines (project_id)
  where status in ('created', 'waiting_for_resource', 'preparing', 'waiting_for_callback', 'pending', 'running');
