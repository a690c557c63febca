-- What commits, names of branches and files of a project must be like. A group's is copied to projects that are made in it.
create table push_rules (
  id bigint generated always as identity primary key,
  project_id bigint references projects on delete cascade,
  namespace_id bigint references namespaces on delete cascade,
  commit_message_regex text,
  commit_message_negative_regex text,
  branch_name_regex text,
  author_email_regex text,
  file_name_regex text,
  max_file_size integer not null default 0,
  deny_delete_tag boolean not null default false,
  member_check boolean not null default false,
  prevent_secrets boolean not null default false,
  commit_committer_check boolean not null default false,
  commit_committer_name_check boolean not null default false,
  reject_unsigned_commits boolean not null default false,
  reject_non_dco_commits boolean not null default false,
  created_at timestamptz(3) not null,
  updated_at timestamptz(3) not null,
  check (num_nonnulls(project_id, namespace_id) = 1)
);
create unique index push_rules_project on push_rules (project_id) where project_id is not null;
create unique index push_rules_group on push_rules (namespace_id) where namespace_id is not null;
