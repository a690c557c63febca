-- The sweep of pictures belongs to uploads; a job that waits has the task's new name.
do $$
begin
  -- The library's tables: a new database gets them after this.
  if to_regclass('graphile_worker._private_tasks') is null then return; end if;
  update graphile_worker._private_tasks set identifier = 'uploads.sweep_pictures'
  where identifier = 'operations.sweep_avatars';
end
$$;
