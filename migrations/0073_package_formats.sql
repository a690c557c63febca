-- The case of letters does not tell NuGet packages apart.
create unique index packages_nuget on packages (project_id, lower(name), lower(version)) where package_type = 'nuget';

-- States of Terraform; what is in a version is sealed.
create table terraform_states (
  id bigint generated always as identity primary key,
  project_id bigint not null references projects (id) on delete cascade,
  name text collate "C" not null,
  -- As the program that holds it describes it.
  lock jsonb,
  created_at timestamptz (3) not null,
  updated_at timestamptz (3) not null
);
create unique index terraform_states_name on terraform_states (project_id, name);
create table terraform_state_versions (
  id bigint generated always as identity primary key,
  state_id bigint not null references terraform_states (id) on delete cascade,
  serial integer not null,
  content text not null,
  created_at timestamptz (3) not null
);
create unique index terraform_state_versions_serial on terraform_state_versions (state_id, serial);
