/** Milestones `person-1` and so on of the project, and `of-person-1` of the group. */
import type { Samples } from '../../../../test/support/samples.ts';

export const samples: Samples = {
  rows: ({ project, group }) => `
    insert into milestones (project_id, namespace_id, iid, title, created_at, updated_at)
      select case x when 1 then ${project} end, case x when 2 then ${group} end, row_number() over (partition by x order by id),
        case x when 2 then 'of-' else '' end || username, now(), now()
      from person, generate_series(1, 2) x order by id, x;
    insert into project_counters (project_id, milestones) select ${project}, count(*) from person;
    insert into group_counters (namespace_id, milestones) select ${group}, count(*) from person`,
  guardedRows: () => `update milestones set start_date = current_date, due_date = current_date + 9`,
  objects: { 'milestones/:milestone_id': 'milestones' },
  fields: { milestone_id: 'milestones' },
};
