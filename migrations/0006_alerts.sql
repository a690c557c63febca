-- Alerts: where monitoring tools send them, what they said, and the incidents that people work on.

alter table project_counters add column alerts integer not null default 0;

create table alert_integrations (
  id bigint generated always as identity primary key,
  project_id bigint not null references projects (id) on delete cascade,
  kind text not null check (kind in ('http', 'metrics')),
  name text not null check (char_length(name) <= 255),
  active boolean not null,
  -- The part of its address that names it; the first of its kind in a project is also reached without one.
  identifier text collate "C" not null,
  key_digest bytea not null,
  -- Which paths of a payload are which properties, and the sample that they were chosen from.
  mapping jsonb,
  sample jsonb,
  created_at timestamptz(3) not null,
  updated_at timestamptz(3) not null
);
create unique index alert_integrations_identifier on alert_integrations (project_id, identifier);

create table incident_settings (
  project_id bigint primary key references projects (id) on delete cascade,
  create_issue boolean not null default false,
  issue_template_key text,
  send_email boolean not null default false,
  auto_close_incident boolean not null default true,
  updated_at timestamptz(3) not null
);

create table alerts (
  id bigint generated always as identity primary key,
  iid integer not null,
  project_id bigint not null references projects (id) on delete cascade,
  -- Through which it came; that may be gone by now.
  integration_id bigint,
  issue_id bigint references issues (id) on delete set null,
  kind text not null check (kind in ('http', 'metrics')),
  title text not null,
  description text,
  severity text not null check (severity in ('critical', 'high', 'medium', 'low', 'info', 'unknown')),
  status text not null default 'triggered' check (status in ('triggered', 'acknowledged', 'resolved', 'ignored')),
  service text,
  monitoring_tool text,
  hosts text[] not null default '{}',
  environment_name text,
  runbook text,
  -- Of the metric that the alert watches.
  query text,
  y_label text,
  -- What incidents made of it say beside the rest.
  incident_markdown text,
  fingerprint bytea,
  -- Open alerts with the same one are one alert; null where nothing is grouped.
  grouping_key bytea,
  events bigint not null default 1,
  started_at timestamptz(3) not null,
  ended_at timestamptz(3),
  payload jsonb not null,
  created_at timestamptz(3) not null,
  updated_at timestamptz(3) not null
);
create unique index alerts_project_iid on alerts (project_id, iid);
create unique index alerts_open_group on alerts (project_id, grouping_key) where status <> 'resolved' and grouping_key is not null;
create index alerts_open_fingerprint on alerts (project_id, fingerprint) where status <> 'resolved' and fingerprint is not null;
create index alerts_project_status on alerts (project_id, status, id);
create index alerts_issue on alerts (issue_id) where issue_id is not null;

create table alert_assignees (
  alert_id bigint not null references alerts (id) on delete cascade,
  user_id bigint not null,
  primary key (alert_id, user_id)
);
create index alert_assignees_user on alert_assignees (user_id);

-- Alerts are talked about, and remembered to be done.
alter table notes add column alert_id bigint references alerts (id) on delete cascade;
alter table notes drop constraint notes_check,
  add constraint notes_check check (num_nonnulls(issue_id, epic_id, snippet_id, commit_sha, alert_id) = 1);
create index notes_alert on notes (alert_id, created_at, id) where alert_id is not null;
alter table todos add column alert_id bigint references alerts (id) on delete cascade;
alter table todos drop constraint todos_check,
  add constraint todos_check check (num_nonnulls(issue_id, epic_id, commit_sha, alert_id) = 1);
create index todos_alert on todos (alert_id, user_id) where alert_id is not null;

-- Pictures of graphs, with alerts and with incidents.
create table metric_images (
  id bigint generated always as identity primary key,
  project_id bigint not null references projects (id) on delete cascade,
  alert_id bigint references alerts (id) on delete cascade,
  issue_id bigint references issues (id) on delete cascade,
  -- Who put it there.
  author_id bigint not null,
  file_name text not null,
  -- The file below the data folder: named by what is in it.
  file text collate "C" not null,
  size bigint not null,
  url text,
  url_text text,
  created_at timestamptz(3) not null,
  updated_at timestamptz(3) not null,
  check (num_nonnulls(alert_id, issue_id) = 1)
);
create index metric_images_alert on metric_images (alert_id, created_at, id) where alert_id is not null;
create index metric_images_issue on metric_images (issue_id, created_at, id) where issue_id is not null;
create index metric_images_project on metric_images (project_id);
create index metric_images_author on metric_images (author_id);
create index metric_images_file on metric_images (file);

-- What happened in an incident, as the program saw it or as people tell it.
create table incident_timeline_events (
  id bigint generated always as identity primary key,
  project_id bigint not null references projects (id) on delete cascade,
  issue_id bigint not null references issues (id) on delete cascade,
  author_id bigint not null,
  -- What the program saw; null for what a person wrote.
  action text,
  note text not null,
  occurred_at timestamptz(3) not null,
  created_at timestamptz(3) not null,
  updated_at timestamptz(3) not null
);
create index incident_timeline_events_issue on incident_timeline_events (issue_id, occurred_at, id);
create index incident_timeline_events_project on incident_timeline_events (project_id);
create index incident_timeline_events_author on incident_timeline_events (author_id);

-- The bot of alerts is one user, made at first need.
alter table users drop constraint users_kind_check,
  add constraint users_kind_check check (kind in ('human', 'project_bot', 'group_bot', 'ghost', 'alert_bot'));
create unique index users_alert_bot on users (kind) where kind = 'alert_bot';
