/** Gives objects to projects: those whose bytes have come, and those that a project has which its people read. */
import { sql } from 'kysely';
import { lockUsage } from '../../../kernel/repository-size/actions.ts';
import { judge, type Usage } from '../../../kernel/repository-size/rules.ts';
import { now } from '../../../platform/clock.ts';
import { type Db, inTransaction } from '../../../platform/db/database.ts';
import { notFound } from '../../../platform/failure.ts';
import type { LargeObject } from '../pointers/pointer.ts';
import { selectObjects } from './queries.ts';

/**
 * Keeps the object whose bytes have come, unless it is too large for the limit of the project by now. 404 where the project is gone
 * meanwhile.
 */
export const keepObject = (
  db: Db,
  projectId: number,
  ofInstance: number | undefined,
  { sha256, size, keep }: { sha256: Buffer; size: number; keep(tx: Db): Promise<void> },
): Promise<'kept' | Usage> =>
  inTransaction(db, async (tx) => {
    const { rows } = await sql`
      select from projects where id = ${projectId} and not deleting for key share`.execute(tx);
    if (rows.length === 0) throw notFound('Project');
    const usage = await lockUsage(tx, projectId, ofInstance);
    if (judge(usage, size) !== 'fits') {
      const oid = sha256.toString('hex');
      return (await selectObjects(tx, projectId, [oid])).has(oid) ? 'kept' : usage;
    }
    await keep(tx);
    await sql`
      insert into lfs_objects (project_id, sha256, size, created_at)
      values (${projectId}, ${sha256}, ${size}, ${now()}) on conflict do nothing`.execute(tx);
    return 'kept';
  });

/** Gives a project those of the objects that the other one has; the ids of these. */
export async function linkObjects(
  db: Db,
  { from, to }: { from: number; to: number },
  oids: readonly string[],
): Promise<Set<string>> {
  const { rows } = await sql<Pick<LargeObject, 'oid'>>`
    with found as (
      select sha256, size from lfs_objects
      where project_id = ${from} and sha256 in (select decode(oid, 'hex') from unnest(${oids}::text[]) as asked (oid))),
    linked as (
      insert into lfs_objects (project_id, sha256, size, created_at)
      select ${to}, sha256, size, ${now()} from found order by sha256 on conflict do nothing)
    select encode(sha256, 'hex') as oid from found`.execute(db);
  return new Set(rows.map(({ oid }) => oid));
}

/** As linkObjects(); none where they are too large for the limit of the project, whatever sizes the client told. */
export const linkWithinLimit = (
  db: Db,
  between: { from: number; to: number },
  ofInstance: number | undefined,
  oids: readonly string[],
): Promise<Set<string>> =>
  inTransaction(db, async (tx) => {
    const usage = await lockUsage(tx, between.to, ofInstance);
    const sizes = usage.limit === 0 ? [] : (await selectObjects(tx, between.from, oids)).values();
    const bytes = [...sizes].reduce((sum, size) => sum + size, 0);
    return judge(usage, bytes) === 'fits' ? linkObjects(tx, between, oids) : new Set();
  });

/** Objects that one statement copies: a second's work, far from the time at which statements are ended. */
const COPIED_AT_ONCE = 20_000;

/** Gives a fork all objects of its source. */
export async function copyObjects(
  tx: Db,
  { from, to }: { from: number; to: number },
  atOnce = COPIED_AT_ONCE,
): Promise<void> {
  for (let last: Buffer | null = Buffer.alloc(0); last; ) {
    const { rows }: { rows: { last: Buffer | null }[] } = await sql<{ last: Buffer | null }>`
      with found as (
        select sha256, size from lfs_objects where project_id = ${from} and sha256 > ${last}
        order by sha256 limit ${atOnce}),
      copied as (
        insert into lfs_objects (project_id, sha256, size, created_at)
        select ${to}, sha256, size, ${now()} from found on conflict do nothing)
      -- Null where these were not as many as that: there are no more.
      select (select sha256 from found order by sha256 offset ${atOnce - 1} limit 1) as last`.execute(tx);
    last = rows[0]?.last ?? null;
  }
}
