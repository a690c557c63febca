-- What people want to hear of by mail, and where.

alter table users add column notification_email text,
  add column notified_of_own_activity boolean not null default false;

-- A user's setting for a project, for a group, or, with neither, for all the rest.
create table notification_settings (
  id bigint generated always as identity primary key,
  user_id bigint not null references users (id) on delete cascade,
  project_id bigint references projects (id) on delete cascade,
  namespace_id bigint references namespaces (id) on delete cascade,
  level text not null default 'global' check (level in ('disabled', 'participating', 'watch', 'global', 'mention', 'custom')),
  -- Names of events, and whether each is wanted; what is not named is as it is by default.
  events jsonb not null default '{}',
  created_at timestamptz(3) not null,
  updated_at timestamptz(3) not null,
  check (project_id is null or namespace_id is null),
  unique nulls not distinct (user_id, project_id, namespace_id)
);
create index notification_settings_project on notification_settings (project_id, user_id) where project_id is not null;
create index notification_settings_namespace on notification_settings (namespace_id, user_id) where namespace_id is not null;
create index notification_settings_global on notification_settings (user_id)
  where project_id is null and namespace_id is null and level in ('watch', 'custom');

-- Pages of the feed are read by the time of their events; a person's by project, so that those in projects that the reader
-- does not see are never walked.
drop index activity_events_project;
create index activity_events_project on activity_events (project_id, created_at, id);
drop index activity_events_author;
create index activity_events_author on activity_events (author_id, project_id, created_at, id);
