/**
 * What is stored in a project is counted before it is stored where there is a limit, by one write at a time: writes at once do not
 * exceed it together.
 */
import { type RawBuilder, sql } from 'kysely';
import { ahead, type Db, inTransaction } from '../../platform/db/database.ts';
import type { Needs } from '../services.ts';
import { judge, type Usage, type Verdict } from './rules.ts';

/** The limit of the instance, in MiB; undefined below the tier that has limits. */
export const instanceLimit = (
  { config }: Needs<'config'>,
  { repository_size_limit: limit }: { repository_size_limit: number },
): number | undefined => (config.tier === 'free' ? undefined : limit);

const none: Usage = { limit: 0, size: 0 };

/** The limit of the project, else of the nearest group that has one, in MiB; null without. To be a part of statements. */
export const ownLimit = (projectId: RawBuilder<unknown>): RawBuilder<number | null> => sql`(
  select coalesce((limited.settings ->> 'repository_size_limit')::bigint, (
    select (g.settings ->> 'repository_size_limit')::bigint from namespaces g
    where g.id = any(parent.ancestor_ids || parent.id) and g.settings ->> 'repository_size_limit' is not null
    order by cardinality(g.ancestor_ids) desc limit 1))
  from projects limited join namespaces parent on parent.id = limited.namespace_id where limited.id = ${projectId})`;

/** The limit of the project, else of the instance; and what counts against it. */
export async function selectUsage(db: Db, projectId: number, ofInstance: number | undefined): Promise<Usage> {
  if (ofInstance === undefined) return none;
  const { rows } = await sql<Usage>`
    with place as (select 1048576 * coalesce(${ownLimit(sql`${projectId}::bigint`)}, ${ofInstance}) as "limit")
    select "limit", case when "limit" = 0 then 0 else coalesce((
        select size from repositories where container = 'project' and container_id = ${projectId} and not wiki), 0)
      + coalesce((select sum(size) from lfs_objects where project_id = ${projectId}), 0) end::bigint as size
    from place`.execute(db);
  return rows[0] ?? none;
}

/** As selectUsage(); where there is a limit, no other write counts until the transaction ends. */
export async function lockUsage(tx: Db, projectId: number, ofInstance: number | undefined): Promise<Usage> {
  const usage = await selectUsage(tx, projectId, ofInstance);
  if (usage.limit === 0) return usage;
  await sql`select pg_advisory_xact_lock(hashtextextended(${`size of project ${projectId}`}, 0))`.execute(
    ahead(tx),
  );
  return selectUsage(tx, projectId, ofInstance);
}

/**
 * Counts bytes that are about to be stored in the project's own repository, if they fit. As a write they make it be measured soon:
 * what is not stored after all counts until then.
 */
export async function takeRoom(
  db: Db,
  projectId: number,
  ofInstance: number | undefined,
  bytes: number,
): Promise<Usage & { verdict: Verdict }> {
  if ((await selectUsage(db, projectId, ofInstance)).limit === 0) return { ...none, verdict: 'fits' };
  return inTransaction(db, async (tx) => {
    const usage = await lockUsage(tx, projectId, ofInstance);
    const verdict = judge(usage, bytes);
    if (verdict === 'fits' && bytes > 0)
      await sql`
        update repositories set size = size + ${bytes}, writes = writes + 1
        where container = 'project' and container_id = ${projectId} and not wiki`.execute(ahead(tx));
    return { ...usage, verdict };
  });
}
