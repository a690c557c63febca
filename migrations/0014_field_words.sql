-- Facts, tasks and what waits for them get the names that the program has for them now. Stop every process of an earlier
-- version first: what one of those announces later under an old name waits for ever.
update outbox set fact = 'repository_write_interrupted' where fact = 'repository_write_cut_off';
update outbox set fact = 'housekeeping_requested' where fact = 'housekeeping_asked';

do $$
begin
  -- The library's tables: a new database gets them after this.
  if to_regclass('graphile_worker._private_tasks') is null then return; end if;
  update graphile_worker._private_jobs j
  set payload = (
    j.payload::jsonb - 'hearing' || jsonb_build_object('job', jsonb_build_object(
      'name', j.payload #> '{hearing,name}',
      'at', j.payload #> '{hearing,at}',
      'payload', j.payload #> '{hearing,told}',
      'event', (j.payload #> '{hearing,occasion}')::jsonb - 'event'
        || jsonb_build_object('name', j.payload #> '{hearing,occasion,event}')))
  )::json
  from graphile_worker._private_tasks t
  where t.id = j.task_id and t.identifier in ('notifications.hear', 'notifications.send')
    and j.payload -> 'hearing' is not null;

  update graphile_worker._private_tasks t set identifier = renamed.now
  from (values
    ('notifications.hear', 'notifications.fan_out'),
    ('wikis.settle', 'wikis.reconcile'),
    ('snippets.settle', 'snippets.reconcile'),
    ('upkeep.tend', 'housekeeping.repack'),
    ('upkeep.measure', 'housekeeping.measure'),
    ('upkeep.find_forgotten', 'housekeeping.find_forgotten'),
    ('upkeep.remove_gone', 'housekeeping.remove_gone'),
    ('upkeep.sweep_drafts', 'housekeeping.sweep_drafts')
  ) as renamed (before, now)
  where t.identifier = renamed.before;
end
$$;
