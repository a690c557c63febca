-- Programs that read the flags of a project do so by a token that is derived from the instance's secret; a token that is
-- asked anew is the next generation.
create table feature_flag_clients (
  project_id bigint primary key references projects (id) on delete cascade,
  generation integer not null,
  updated_at timestamptz(3) not null
);
