/** Keeps what groups pull of other registries, and removes it. */
import { sql } from 'kysely';
import { now } from '../../../platform/clock.ts';
import { type Db, inTransaction } from '../../../platform/db/database.ts';
import type { KeptImage } from './queries.ts';

/** Of one group; what is more is handed on, and not kept. */
export const MAX_MANIFESTS = 10_000;
export const MAX_TAGS = 10_000;
export const MAX_BLOBS = 50_000;

type Kept = { digest: string; sha256: Buffer; size: number; keep(tx: Db): Promise<void> };

/**
 * Holds the group, and counts what it keeps; false where there is no more room, and where the group is gone. Requests that
 * keep something at the same moment may pass the bound by their number.
 */
async function hasRoom(
  tx: Db,
  groupId: number,
  table: 'manifests' | 'blobs' | 'tags',
  most: number,
): Promise<boolean> {
  const counted = sql.table(`dependency_proxy_${table}`);
  const { rows } = await sql<{ count: number }>`
    select (select count(*) from (select from ${counted} where namespace_id = ${groupId} limit ${most}) kept) as count
    from namespaces where id = ${groupId} and not deleting for key share`.execute(tx);
  return rows[0] !== undefined && Number(rows[0].count) < most;
}

/** Keeps a manifest, and that the tag leads to it, if it was asked for by one; false where there is no room. */
export const keepProxiedManifest = (
  db: Db,
  { groupId, image }: KeptImage,
  { digest, sha256, size, keep, mediaType, tag }: Kept & { mediaType: string; tag: string | undefined },
): Promise<boolean> =>
  inTransaction(db, async (tx) => {
    if (!(await hasRoom(tx, groupId, 'manifests', MAX_MANIFESTS))) return false;
    await keep(tx);
    const { rows } = await sql<{ id: number }>`
      insert into dependency_proxy_manifests
        (namespace_id, image, digest, media_type, sha256, size, created_at, pulled_at)
      values (${groupId}, ${image}, ${digest}, ${mediaType}, ${sha256}, ${size}, ${now()}, ${now()})
      on conflict (namespace_id, image, digest)
      do update set media_type = excluded.media_type, pulled_at = excluded.pulled_at
      returning id`.execute(tx);
    if (tag !== undefined && (await hasRoom(tx, groupId, 'tags', MAX_TAGS)))
      await sql`
        insert into dependency_proxy_tags (namespace_id, image, name, manifest_id)
        values (${groupId}, ${image}, ${tag}, ${rows[0]?.id ?? 0})
        on conflict (namespace_id, image, name) do update set manifest_id = excluded.manifest_id`.execute(tx);
    return true;
  });

/** False where there is no room. */
export const keepProxiedBlob = (
  db: Db,
  groupId: number,
  { digest, sha256, size, keep }: Kept,
): Promise<boolean> =>
  inTransaction(db, async (tx) => {
    if (!(await hasRoom(tx, groupId, 'blobs', MAX_BLOBS))) return false;
    await keep(tx);
    await sql`
      insert into dependency_proxy_blobs (namespace_id, digest, sha256, size, created_at, pulled_at)
      values (${groupId}, ${digest}, ${sha256}, ${size}, ${now()}, ${now()})
      on conflict (namespace_id, digest) do update set pulled_at = excluded.pulled_at`.execute(tx);
    return true;
  });

const HOUR_MS = 3_600_000;

/** Notes that it was pulled, at most once an hour. */
export async function notePull(
  db: Db,
  table: 'dependency_proxy_manifests' | 'dependency_proxy_blobs',
  { id, pulled_at }: { id: number; pulled_at: Date },
): Promise<void> {
  if (now().getTime() - pulled_at.getTime() < HOUR_MS) return;
  await db.updateTable(table).set({ pulled_at: now() }).where('id', '=', id).execute();
}

const BATCH = 500;

/** What of a group was kept, or last pulled, at that time or before goes, except for what is being pulled: the SHA-256 of its blobs, a batch at a time. */
export async function* removeKept(
  db: Db,
  groupId: number,
  by: 'created_at' | 'pulled_at',
  before: Date,
): AsyncGenerator<Buffer[]> {
  for (const table of ['dependency_proxy_manifests', 'dependency_proxy_blobs']) {
    let gone = BATCH;
    while (gone === BATCH) {
      const { rows } = await sql<{ gone: number; digests: Buffer[] }>`
        with removed as (delete from ${sql.table(table)} where id in (
          select id from ${sql.table(table)} where namespace_id = ${groupId} and ${sql.ref(by)} <= ${before}
          limit ${BATCH} for update skip locked)
        returning sha256)
        select count(*)::int as gone, array_agg(distinct sha256) as digests from removed`.execute(db);
      gone = rows[0]?.gone ?? 0;
      if (gone > 0) yield rows[0]?.digests ?? [];
    }
  }
}
