/** Sites: the same endpoints under their present name and their former one. */
import { onInstance } from '../../kernel/access/access.ts';
import { type Endpoint, endpoint, found, listing, noContent } from '../../kernel/api/endpoint.ts';
import type { Db } from '../../platform/db/database.ts';
import { mapPage } from '../../platform/pagination/page.ts';
import { createSite, deleteSite, updateSite } from './actions.ts';
import { isCurrent, type OwnState, presentSite, presentStatus, type ViewContext } from './present.ts';
import { countHeld, readSlots, type SiteRow, selectSite, selectSites } from './queries.ts';
import { CreateInput, OneInput, SiteRecord, StatusRecord, UpdateInput, type Word, words } from './schema.ts';

/** What this site holds, where it is among those of the answer. */
async function readOwnState(
  context: ViewContext & { db: Db },
  rows: readonly SiteRow[],
): Promise<OwnState | undefined> {
  if (!rows.some((row) => isCurrent(context, row))) return undefined;
  const [counts, slots] = await Promise.all([countHeld(context.db), readSlots(context.db)]);
  return { counts, slots };
}

const endpointsOf = (word: Word): Endpoint[] => {
  const path = `/${word}`;
  const common = {
    access: onInstance,
    tier: 'premium',
    ...(word === 'geo_nodes' && { deprecated: { use: '/geo_sites' } }),
  } as const;
  return [
    listing({
      method: 'GET',
      path,
      summary: 'Sites that are registered.',
      ...common,
      page: 'offset',
      item: SiteRecord,
      handle: async (context) =>
        mapPage(await selectSites(context.db, context.page), (row) => presentSite(context, word, row)),
    }),
    listing({
      method: 'GET',
      path: `${path}/status`,
      summary: 'States of the sites: that of the one which answers, and of the others that it is not known.',
      ...common,
      page: 'offset',
      item: StatusRecord,
      handle: async (context) => {
        const sites = await selectSites(context.db, context.page);
        const held = await readOwnState(context, sites.items);
        return mapPage(sites, (row) =>
          presentStatus(context, word, row, isCurrent(context, row) ? held : undefined),
        );
      },
    }),
    endpoint({
      method: 'GET',
      path: `${path}/:id`,
      summary: 'One site.',
      ...common,
      input: OneInput,
      reply: SiteRecord,
      handle: async (context) =>
        presentSite(context, word, found(await selectSite(context.db, context.input.id), 'Geo Site')),
    }),
    endpoint({
      method: 'GET',
      path: `${path}/:id/status`,
      summary: 'The state of a site; only that of the one which answers is known.',
      ...common,
      input: OneInput,
      reply: StatusRecord,
      handle: async (context) => {
        const row = found(await selectSite(context.db, context.input.id), 'Geo Site');
        return presentStatus(context, word, row, await readOwnState(context, [row]));
      },
    }),
    endpoint({
      method: 'POST',
      path,
      summary: 'Registers a site; nothing is replicated to it.',
      ...common,
      input: CreateInput,
      reply: SiteRecord,
      handle: async (context) => presentSite(context, word, await createSite(context, context.input)),
    }),
    endpoint({
      method: 'PUT',
      path: `${path}/:id`,
      summary: 'Changes a site.',
      ...common,
      input: UpdateInput,
      reply: SiteRecord,
      handle: async (context) => {
        const { id, ...changes } = context.input;
        return presentSite(context, word, await updateSite(context, id, changes));
      },
    }),
    endpoint({
      method: 'DELETE',
      path: `${path}/:id`,
      summary: 'Removes a site from those that are registered.',
      ...common,
      input: OneInput,
      reply: noContent,
      handle: async (context) => {
        await deleteSite(context, context.input.id, context.unmodified);
        return null;
      },
    }),
  ];
};

export const siteEndpoints: Endpoint[] = words.flatMap(endpointsOf);
