-- All files that are kept are blobs. The program moves those of before as soon as this is done; what names them is here.
insert into blobs (sha256, created_at)
select sha256, now() from (
  select sha256 from ci_artifacts
  union select sha256 from secure_files
  union select decode(left(avatar, 64), 'hex') from (
    select avatar from users union all select avatar from namespaces union all select avatar from projects
    union all select avatar from topics union all select file from metric_images) pictures
  where avatar ~ '^[0-9a-f]{64}[.]') named
on conflict do nothing;

alter table ci_artifacts drop column secret, add foreign key (sha256) references blobs (sha256);
create index ci_artifacts_blob on ci_artifacts (sha256);

alter table secure_files drop column secret, add foreign key (sha256) references blobs (sha256);
create index secure_files_blob on secure_files (sha256);

-- None where its file is gone.
alter table uploads add column sha256 bytea references blobs (sha256);
create index uploads_blob on uploads (sha256);

-- The first part of what is stored of a picture is its digest.
alter table users add column avatar_blob bytea references blobs (sha256)
  generated always as (case when avatar ~ '^[0-9a-f]{64}[.]' then decode(left(avatar, 64), 'hex') end) stored;
create index users_avatar_blob on users (avatar_blob) where avatar_blob is not null;
alter table namespaces add column avatar_blob bytea references blobs (sha256)
  generated always as (case when avatar ~ '^[0-9a-f]{64}[.]' then decode(left(avatar, 64), 'hex') end) stored;
create index namespaces_avatar_blob on namespaces (avatar_blob) where avatar_blob is not null;
alter table projects add column avatar_blob bytea references blobs (sha256)
  generated always as (case when avatar ~ '^[0-9a-f]{64}[.]' then decode(left(avatar, 64), 'hex') end) stored;
create index projects_avatar_blob on projects (avatar_blob) where avatar_blob is not null;
alter table topics add column avatar_blob bytea references blobs (sha256)
  generated always as (case when avatar ~ '^[0-9a-f]{64}[.]' then decode(left(avatar, 64), 'hex') end) stored;
create index topics_avatar_blob on topics (avatar_blob) where avatar_blob is not null;
alter table metric_images add column blob bytea references blobs (sha256)
  generated always as (case when file ~ '^[0-9a-f]{64}[.]' then decode(left(file, 64), 'hex') end) stored;
create index metric_images_blob on metric_images (blob);

-- Traces of jobs that have ended.
create table ci_traces (
  job_id bigint primary key references ci_jobs (id) on delete cascade,
  sha256 bytea not null references blobs (sha256),
  size bigint not null
);
create index ci_traces_blob on ci_traces (sha256);

-- Jobs that nothing does any more.
do $$
begin
  if to_regclass('graphile_worker._private_tasks') is null then return; end if;
  delete from graphile_worker._private_jobs j using graphile_worker._private_tasks t
    where t.id = j.task_id and t.identifier in ('uploads.forget_files', 'uploads.sweep_files', 'uploads.sweep_pictures',
      'packages.sweep_blobs', 'ci.sweep_files', 'ci.sweep_traces');
end $$;
