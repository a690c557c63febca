/** Integrations of the project and the group. */
import type { Samples } from '../../../test/support/samples.ts';
import { slugs } from './descriptions/descriptions.ts';

const webhook = { with: { webhook: 'https://chat.example/hook' } };

export const samples: Samples = {
  rows: ({ project, group }) => `
    insert into integrations (project_id, namespace_id, slug, active, events, properties, created_at, updated_at)
      select case x when 1 then ${project} end, case x when 2 then ${group} end, slug, true, '{push_events}', '{}', now(), now()
      from unnest(array[${slugs.map((slug) => `'${slug}'`).join()}]) slug, generate_series(1, 2) x order by slug, x`,
  objects: {
    'integrations/:slug': { value: 'slack' },
    'services/:slug': { value: 'slack' },
  },
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
