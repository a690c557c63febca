/** Labels `person-1` and so on of the project, and `of-person-1` of the group. */
import type { Samples } from '../../../../test/support/samples.ts';

export const samples: Samples = {
  rows: ({ project, group }) => `
    insert into labels (project_id, namespace_id, name, color, created_at, updated_at)
      select case x when 1 then ${project} end, case x when 2 then ${group} end,
        case x when 2 then 'of-' else '' end || username, '#ff0000', now(), now()
      from person, generate_series(1, 2) x order by id, x`,
  guardedRows: () => `
    insert into subscriptions (label_id, user_id, project_id, subscribed, created_at, updated_at)
      select l.id, u.id, l.project_id, true, now(), now() from labels l, users u where u.username = 'the-owner'`,
  objects: {
    'labels/:name': { table: 'labels', column: 'name' },
    'labels/:subscribable_id': 'labels',
  },
  fields: { label_id: 'labels' },
  requests: () => ({
    'PUT /projects/:id/labels/:name': { with: { new_name: 'new' } },
    'PUT /projects/:id/labels': { with: { name: 'person-1', new_name: 'new' } },
    'DELETE /projects/:id/labels': { with: { name: 'person-1' } },
    'PUT /projects/:id/labels/promote': { with: { name: 'person-1' } },
    'PUT /groups/:id/labels/:name': { with: { new_name: 'new' } },
    'PUT /groups/:id/labels': { with: { name: 'of-person-1', new_name: 'new' } },
    'DELETE /groups/:id/labels': { with: { name: 'of-person-1' } },
  }),
  objectForDelete: () => ({
    '/projects/:id/labels': { with: { name: 'person-2' } },
    '/groups/:id/labels': { with: { name: 'of-person-2' } },
  }),
};
