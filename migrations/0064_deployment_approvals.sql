-- Deployments to protected environments wait for approvals.
alter table protected_environments
  add column required_approval_count smallint not null default 0 check (required_approval_count between 0 and 5);
alter table protected_environment_access
  -- An entry with a number says who approves, and how many of them must; one without says who deploys.
  add column required_approvals smallint check (required_approvals between 1 and 5);

-- Whether the job's environment asked for approvals when its pipeline was made.
alter table ci_jobs add column needs_approval boolean not null default false;
alter table deployments add column approved boolean not null default false;

create table deployment_approvals (
  id bigint generated always as identity primary key,
  deployment_id bigint not null references deployments (id) on delete cascade,
  user_id bigint not null references users (id) on delete cascade,
  -- The rule for which it counts.
  rule_id bigint references protected_environment_access (id) on delete set null,
  -- Whether the user may deploy, as far as protections without rules go: for those it counts, too.
  by_deployer boolean not null,
  status text not null check (status in ('approved', 'rejected')),
  comment text,
  created_at timestamptz (3) not null,
  unique (deployment_id, user_id)
);
create index deployment_approvals_user on deployment_approvals (user_id);
create index deployment_approvals_rule on deployment_approvals (rule_id) where rule_id is not null;
