-- External status checks: services that are told of changes of merge requests, and say whether these may be merged.
create table external_status_checks (
  id bigint generated always as identity primary key,
  project_id bigint not null references projects (id) on delete cascade,
  name text not null,
  external_url text not null,
  -- Signs the requests.
  shared_secret_sealed text,
  created_at timestamptz (3) not null,
  updated_at timestamptz (3) not null
);
create unique index external_status_checks_name on external_status_checks (project_id, name);
create unique index external_status_checks_url on external_status_checks (project_id, external_url);

-- A check without any is for all branches.
create table external_status_check_branches (
  check_id bigint not null references external_status_checks (id) on delete cascade,
  protected_branch_id bigint not null references protected_branches (id) on delete cascade,
  primary key (check_id, protected_branch_id)
);
create index external_status_check_branches_branch on external_status_check_branches (protected_branch_id);

-- The last of each check; one of another commit than the newest counts for nothing.
create table status_check_responses (
  id bigint generated always as identity primary key,
  merge_request_id bigint not null references merge_requests (id) on delete cascade,
  check_id bigint not null references external_status_checks (id) on delete cascade,
  sha text collate "C" not null,
  status text not null check (status in ('pending', 'passed', 'failed')),
  -- Of the status.
  updated_at timestamptz (3) not null
);
create unique index status_check_responses_once on status_check_responses (merge_request_id, check_id);
create index status_check_responses_check on status_check_responses (check_id);
