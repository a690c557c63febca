-- Releases of projects: what is published at a tag, of which there is one release.
create table releases (
  id bigint generated always as identity primary key,
  project_id bigint not null references projects (id) on delete cascade,
  tag text collate "C" not null,
  -- The commit at which the tag was then; the tag may be moved or deleted.
  sha text collate "C",
  name text,
  description text,
  author_id bigint not null references users (id),
  released_at timestamptz (3) not null,
  -- Of one that was made before it is released: when its evidence is collected.
  evidence_due_at timestamptz (3),
  created_at timestamptz (3) not null,
  updated_at timestamptz (3) not null
);
create unique index releases_tag on releases (project_id, tag);
create index releases_released on releases (project_id, released_at, id);
create index releases_created on releases (project_id, created_at, id);
create index releases_author on releases (author_id);
create index releases_evidence_due on releases (evidence_due_at) where evidence_due_at is not null;

create table release_links (
  id bigint generated always as identity primary key,
  release_id bigint not null references releases (id) on delete cascade,
  name text collate "C" not null,
  url text collate "C" not null,
  -- Below the address of the release, `/bin/program`.
  filepath text collate "C",
  link_type text not null check (link_type in ('other', 'runbook', 'image', 'package')),
  created_at timestamptz (3) not null,
  updated_at timestamptz (3) not null
);
create unique index release_links_name on release_links (release_id, name);
create unique index release_links_url on release_links (release_id, url);
create unique index release_links_filepath on release_links (release_id, filepath) where filepath is not null;

create table release_milestones (
  release_id bigint not null references releases (id) on delete cascade,
  milestone_id bigint not null references milestones (id) on delete cascade,
  primary key (release_id, milestone_id)
);
create index release_milestones_milestone on release_milestones (milestone_id);

create table release_evidences (
  id bigint generated always as identity primary key,
  release_id bigint not null references releases (id) on delete cascade,
  -- SHA-256 of the document.
  sha text not null,
  document text not null,
  collected_at timestamptz (3) not null
);
create index release_evidences_release on release_evidences (release_id, id);
