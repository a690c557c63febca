/** Registers sites, changes and removes them. */
import { announce } from '../../kernel/activity/announce-actions.ts';
import type { Actor } from '../../kernel/actor.ts';
import { found } from '../../kernel/api/endpoint.ts';
import type { Needs } from '../../kernel/services.ts';
import { now } from '../../platform/clock.ts';
import { ahead, type Db, inTransaction } from '../../platform/db/database.ts';
import { invalid } from '../../platform/failure.ts';
import { lockSites, type SiteRow, selectMissingGroups } from './queries.ts';
import { requirePlace, requireRemovable, requireValid, withSlash } from './rules.ts';
import type { SiteInput } from './schema.ts';

type Context = { db: Db; services: Needs<'config'>; actor: Actor };

const audit = (
  tx: Db,
  { actor }: Context,
  event: 'geo_site_created' | 'geo_site_updated' | 'geo_site_deleted',
  { id, name }: SiteRow,
): Promise<void> =>
  announce(tx, {
    author: actor,
    audit: {
      entity: { type: 'InstanceScope', id: 1, path: 'instance' },
      event,
      details: { target_id: id, target_type: 'GeoNode', target_details: name },
    },
  });

/** 400 for storages and groups that there are not. */
async function requireKnown(tx: Db, { services }: Context, input: SiteInput): Promise<void> {
  const { selective_sync_shards: shards = [], selective_sync_namespace_ids: groups = [] } = input;
  const unknown = shards.filter((name) => !services.config.storages.has(name));
  if (unknown.length > 0) throw invalid({ selective_sync_shards: [`has no storage ${unknown[0]}`] });
  const [missing] = groups.length === 0 ? [] : await selectMissingGroups(tx, groups);
  if (missing !== undefined) throw invalid({ selective_sync_namespace_ids: [`has no group ${missing}`] });
}

const columnsOf = ({ primary: _, url, ...input }: SiteInput) => ({
  ...input,
  ...(url !== undefined && { url: withSlash(url) }),
});

const defaults = {
  enabled: true,
  files_max_capacity: 10,
  repos_max_capacity: 25,
  verification_max_capacity: 100,
  container_repositories_max_capacity: 10,
  selective_sync_shards: [],
  selective_sync_namespace_ids: [],
  minimum_reverification_interval: 7,
  sync_object_storage: false,
  blob_download_timeout: 28_800,
};

/** 400 for what is no site, for a second primary one, and for one too many. */
export const createSite = (
  context: Context,
  input: SiteInput & { name: string; url: string },
): Promise<SiteRow> =>
  inTransaction(context.db, async (tx) => {
    requireValid(input);
    requirePlace((await lockSites(tx)).length);
    await requireKnown(tx, context, input);
    const time = now();
    const row = await tx
      .insertInto('geo_sites')
      .values({
        ...defaults,
        ...columnsOf(input),
        name: input.name,
        url: withSlash(input.url),
        is_primary: input.primary ?? false,
        created_at: time,
        updated_at: time,
      })
      .returningAll()
      .executeTakeFirstOrThrow();
    await audit(tx, context, 'geo_site_created', row);
    return row;
  });

export const updateSite = (context: Context, id: number, input: SiteInput): Promise<SiteRow> =>
  inTransaction(context.db, async (tx) => {
    const site = found(
      (await lockSites(tx)).find((each) => each.id === id),
      'Geo Site',
    );
    requireValid({ ...input, primary: site.is_primary });
    await requireKnown(tx, context, input);
    const row = await tx
      .updateTable('geo_sites')
      .set({ ...columnsOf(input), updated_at: now() })
      .where('id', '=', id)
      .returningAll()
      .executeTakeFirstOrThrow();
    await audit(tx, context, 'geo_site_updated', row);
    return row;
  });

/** 400 for the primary site, while there are others. */
export const deleteSite = (
  context: Context,
  id: number,
  unmodified: (updatedAt: Date) => void,
): Promise<void> =>
  inTransaction(context.db, async (tx) => {
    const sites = await lockSites(tx);
    const site = found(
      sites.find((each) => each.id === id),
      'Geo Site',
    );
    unmodified(site.updated_at);
    requireRemovable(site, sites.length);
    await ahead(tx).deleteFrom('geo_sites').where('id', '=', id).execute();
    await audit(tx, context, 'geo_site_deleted', site);
  });
