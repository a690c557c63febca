/** Every user changed the first issue, the first epic and the first merge request. */
import type { SampleObject, Samples } from '../../../../test/support/samples.ts';

const events: SampleObject = {
  table: 'resource_events',
  where: (_, path) => {
    const kind = /resource_(\w+)_events/.exec(path)?.[1];
    const [target = 'issue'] = ['epic', 'merge_request'].filter((each) => path.includes(`/${each}s/`));
    return `kind = '${kind}' and ${target}_id is not null`;
  },
};

export const samples: Samples = {
  after: ['work-items/issues', 'work-items/epics', 'merge-requests'],
  rows: ({ project, group }) => `
    insert into resource_events (kind, issue_id, user_id, action, label_id, milestone_id, weight, created_at)
      select k.kind, i.id, p.id, case k.kind when 'state' then 'closed' when 'weight' then null else 'add' end,
        case k.kind when 'label' then l.id end, case k.kind when 'milestone' then i.milestone_id end,
        case k.kind when 'weight' then 1 end, now()
      from issues i, person p join labels l on l.name = p.username, unnest(array['state', 'label', 'milestone', 'weight']) as k(kind)
      where i.project_id = ${project} and i.iid = 1 order by p.id;
    insert into resource_events (kind, epic_id, user_id, action, label_id, created_at)
      select kind, e.id, p.id, case kind when 'label' then 'add' else 'closed' end, case kind when 'label' then l.id end, now()
      from epics e, (values ('label'), ('state')) x(kind), labels l join person p on l.name = 'of-' || p.username
      where e.parent_id is null and l.namespace_id = ${group} order by l.id;
    insert into resource_events (kind, merge_request_id, user_id, action, label_id, milestone_id, created_at)
      select kind, m.id, p.id, case kind when 'state' then 'closed' else 'add' end, case kind when 'label' then l.id end,
        case kind when 'milestone' then m.milestone_id end, now()
      from merge_requests m, person p join labels l on l.name = p.username, unnest(array['state', 'label', 'milestone']) as k(kind)
      where m.project_id = ${project} and m.iid = 1 order by p.id`,
  objects: {
    'resource_label_events/:event_id': events,
    'resource_milestone_events/:event_id': events,
    'resource_state_events/:event_id': events,
    'resource_weight_events/:event_id': events,
    'resource_iteration_events/:event_id': events,
  },
  lists: { 'GET /projects/:id/issues/:eventable_id/resource_iteration_events': 'empty' },
};
