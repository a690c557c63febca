/** Integrations of projects, also under their former name, and of groups: made of the table for each. */
import { type Access, onGroup, onProject } from '../../../kernel/access/access.ts';
import type { ResourceParent } from '../../../kernel/access/resource-parents.ts';
import type { Actor } from '../../../kernel/actor.ts';
import { type Endpoint, endpoint, found, listing, noContent } from '../../../kernel/api/endpoint.ts';
import { mapPage } from '../../../platform/pagination/page.ts';
import type { ListenedFlags } from '../../hooks/index.ts';
import { integrations } from '../descriptions/descriptions.ts';
import type { Description, Properties } from '../kinds/description.ts';
import { disableIntegration, inheritIntegration, setIntegration } from './actions.ts';
import { presentIntegration, presentWhole } from './present.ts';
import { selectIntegration, selectIntegrations } from './queries.ts';
import { IntegrationRecord, OneIntegration, SetIntegration, WholeIntegration } from './schema.ts';

type Home = {
  path: string;
  whose: string;
  manage: Access<ResourceParent, Actor>;
  deprecated?: { use: string };
};

const homes: readonly Home[] = [
  {
    path: '/projects/:id/integrations',
    whose: 'of a project',
    manage: onProject('manage_integrations'),
  },
  {
    path: '/projects/:id/services',
    whose: 'of a project',
    manage: onProject('manage_integrations'),
    deprecated: { use: '/projects/:id/integrations' },
  },
  { path: '/groups/:id/integrations', whose: 'of a group', manage: onGroup('manage_integrations') },
];

const described = (slug: string): Description => found(integrations.get(slug), 'Integration');

function endpointsOf(flags: ListenedFlags, { path, whose, manage, deprecated }: Home): Endpoint[] {
  const old = deprecated && { deprecated };
  const one = `${path}/:slug` as const;
  return [
    listing({
      method: 'GET',
      path,
      summary: `Active integrations ${whose}, with those of the groups around it that it has none of its own for.`,
      ...old,
      access: manage,
      page: 'offset',
      item: IntegrationRecord,
      handle: async ({ db, subject, page }) =>
        mapPage(await selectIntegrations(db, subject, page), (row) => presentIntegration(subject, row)),
    }),
    endpoint({
      method: 'GET',
      path: one,
      summary: `An integration ${whose}, without its secrets.`,
      ...old,
      access: manage,
      input: OneIntegration,
      reply: WholeIntegration,
      handle: async ({ db, subject, input }) =>
        presentWhole(subject, found(await selectIntegration(db, subject, input.slug), 'Integration')),
    }),
    endpoint({
      method: 'PUT',
      path: one,
      summary: `Sets an integration ${whose}, and turns it on.`,
      ...old,
      access: manage,
      input: SetIntegration,
      reply: WholeIntegration,
      handle: async (context) => {
        const { slug, use_inherited_settings: inherits, ...changes } = context.input;
        const description = described(slug);
        const row = inherits
          ? await inheritIntegration(context, description)
          : await setIntegration(context, description, changes as Properties);
        await flags.changed();
        return presentWhole(context.subject, row);
      },
    }),
    endpoint({
      method: 'DELETE',
      path: one,
      summary: `Turns an integration ${whose} off, and forgets its settings.`,
      ...old,
      access: manage,
      input: OneIntegration,
      reply: noContent,
      handle: async (context) => {
        await disableIntegration(context, described(context.input.slug), context.unmodified);
        return null;
      },
    }),
  ];
}

export const integrationEndpoints = (flags: ListenedFlags): Endpoint[] =>
  homes.flatMap((home) => endpointsOf(flags, home));
