-- Issue boards of projects and groups. A list has the issues with a label, an assignee or a milestone.
create table boards (
  id bigint generated always as identity primary key,
  project_id bigint references projects on delete cascade,
  namespace_id bigint references namespaces on delete cascade,
  name text not null,
  hide_backlog_list boolean not null default false,
  hide_closed_list boolean not null default false,
  assignee_id bigint references users on delete set null,
  milestone_id bigint references milestones on delete set null,
  weight integer,
  created_at timestamptz(3) not null,
  updated_at timestamptz(3) not null,
  check (num_nonnulls(project_id, namespace_id) = 1)
);
create index boards_project on boards (project_id) where project_id is not null;
create index boards_group on boards (namespace_id) where namespace_id is not null;
create index boards_assignee on boards (assignee_id) where assignee_id is not null;
create index boards_milestone on boards (milestone_id) where milestone_id is not null;

-- The labels that a board is scoped to.
create table board_labels (
  board_id bigint not null references boards on delete cascade,
  label_id bigint not null references labels on delete cascade,
  primary key (board_id, label_id)
);
create index board_labels_label on board_labels (label_id);

create table board_lists (
  id bigint generated always as identity primary key,
  board_id bigint not null references boards on delete cascade,
  label_id bigint references labels on delete cascade,
  assignee_id bigint references users on delete cascade,
  milestone_id bigint references milestones on delete cascade,
  position integer not null,
  created_at timestamptz(3) not null,
  updated_at timestamptz(3) not null,
  check (num_nonnulls(label_id, assignee_id, milestone_id) = 1),
  constraint board_lists_of_label unique (board_id, label_id),
  constraint board_lists_of_assignee unique (board_id, assignee_id),
  constraint board_lists_of_milestone unique (board_id, milestone_id)
);
create index board_lists_label on board_lists (label_id) where label_id is not null;
create index board_lists_assignee on board_lists (assignee_id) where assignee_id is not null;
create index board_lists_milestone on board_lists (milestone_id) where milestone_id is not null;
