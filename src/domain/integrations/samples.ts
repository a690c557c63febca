/** Integrations of the project and the group. */
import type { Samples } from '../../../test/support/samples.ts';

const webhook = { with: { webhook: 'https://chat.example/hook' } };

export const samples: Samples = {
  // One that is there, and as many that are not as the lists of the tests are long.
  rows: ({ project, group }) => `
    insert into integrations (project_id, namespace_id, slug, active, events, properties, created_at, updated_at)
      select case x when 1 then ${project} end, case x when 2 then ${group} end,
        case row_number() over (partition by x order by id) when 1 then 'slack' else username end,
        true, '{push_events}', '{}', now(), now()
      from person, generate_series(1, 2) x order by x, id`,
  objects: {
    'integrations/:slug': { value: 'slack' },
    'services/:slug': { value: 'slack' },
  },
  // Of another server.
  fields: { jira_issue_transition_id: null },
  objectForDelete: () =>
    Object.fromEntries(
      ['/projects/:id/integrations', '/projects/:id/services', '/groups/:id/integrations'].map((home) => [
        `${home}/:slug`,
        { at: { slug: `select 'slack'` } },
      ]),
    ),
  requests: () => ({
    'PUT /projects/:id/integrations/:slug': webhook,
    'PUT /projects/:id/services/:slug': webhook,
    'PUT /groups/:id/integrations/:slug': webhook,
  }),
};
