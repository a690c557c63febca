/** In the first epic are the issues of the project's first milestone. */
import type { Samples } from '../../../../test/support/samples.ts';

export const samples: Samples = {
  after: ['work-items/issues', 'work-items/epics'],
  rows: ({ project }) => `
    insert into epic_issues (epic_id, issue_id, relative_position)
      select e.id, i.id, i.id from epics e, issues i join milestones m on m.id = i.milestone_id
      where e.parent_id is null and m.project_id = ${project} order by i.id`,
  ownRows: ({ project, group }) => `
    insert into epic_issues (epic_id, issue_id, relative_position)
      select e.id, i.id, 0 from epics e, issues i
      where e.namespace_id = ${group} and e.iid = 1 and i.project_id = ${project} and i.iid = 1`,
  objects: {
    'issues/:issue_id': {
      table: 'epic_issues',
      where: ({ group }) => `epic_id in (select id from epics where namespace_id = ${group})`,
    },
  },
  fields: { issue_id: 'epic_issues' },
  requests: async ({ id }) => {
    const free = { at: { issue_id: await id(`select id from issues where title = 'free'`) } };
    const add = 'POST /groups/:id/epics/:epic_iid/issues/:issue_id';
    return {
      [add]: free,
      'POST /groups/:id/-/epics/:epic_iid/issues/:issue_id': free,
      [`${add}, from out of sight`]: {
        at: { issue_id: await id(`select id from issues where title = 'elsewhere'`) },
      },
      [`${add}, of a project that one only sees`]: {
        at: { issue_id: await id(`select id from issues where title = 'in-reach'`) },
      },
    };
  },
};
