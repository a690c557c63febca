-- Tokens of a project with which programs will start its pipelines, in the name of their owner.
create table trigger_tokens (
  id bigint generated always as identity primary key,
  project_id bigint not null references projects (id) on delete cascade,
  owner_id bigint not null references users (id) on delete cascade,
  -- The owner reads the token again, and requests are recognised by its digest.
  token_sealed text not null,
  digest bytea not null unique,
  description text not null,
  expires_at timestamptz (3),
  created_at timestamptz (3) not null,
  updated_at timestamptz (3) not null
);
create index trigger_tokens_project on trigger_tokens (project_id, id);
create index trigger_tokens_owner on trigger_tokens (owner_id);
