/** Retention of activity events, by a setting (facts: Activity events); old ones are deleted in batches. */
import { setTimeout as sleep } from 'node:timers/promises';
import { sql } from 'kysely';
import type { Eraser } from '../../kernel/namespaces/erasure-actions.ts';
import { now } from '../../platform/clock.ts';
import { ahead, type Db } from '../../platform/db/database.ts';

const DAY_MS = 86_400_000;
const BATCH = 2_000;
/** Milliseconds between two batches, for other users of the disk. */
const PAUSE_MS = 50;

type Walked = { last: number | null; seen: number; gone: number };

/** Deletes the expired ones of the next events by id, and returns the progress. */
async function sweepBatch(db: Db, after: number, before: Date): Promise<Walked> {
  const { rows } = await sql<Walked>`
    with batch as materialized (
      select id, created_at from activity_events where id > ${after} order by id limit ${BATCH}),
    gone as (
      delete from activity_events where id in (select id from batch where created_at < ${before}) returning id)
    select (select max(id) from batch) as last, (select count(*) from batch) as seen,
      (select count(*) from gone) as gone`.execute(db);
  return rows[0] ?? { last: null, seen: 0, gone: 0 };
}

/**
 * Deletes events older than so many days; 0 keeps them all. Ids grow with time, so the walk from the oldest
 * ends at the first batch without an expired one. An interrupted run continues in the next. Returns the
 * number deleted.
 */
export async function sweepEvents(db: Db, days: number): Promise<number> {
  if (days === 0) return 0;
  const before = new Date(now().getTime() - days * DAY_MS);
  let swept = 0;
  for (let after = 0; ; ) {
    const { last, seen, gone } = await sweepBatch(db, after, before);
    swept += gone;
    if (last === null || gone === 0 || seen < BATCH) return swept;
    after = last;
    await sleep(PAUSE_MS);
  }
}

/** Deletes the events of projects and namespaces that go; they have no foreign keys, which each event would pay for. */
export const eraseEvents: Eraser = async (tx, { projectIds, namespaceIds }) => {
  await sql`
    delete from activity_events where project_id = any(${[...projectIds]}::bigint[])
      or namespace_id = any(${[...namespaceIds]}::bigint[])`.execute(ahead(tx));
};

/** Makes the events of a deleted user the ghost's, or deletes them. */
export async function reassignEvents(tx: Db, userId: number, ghostId: number, hard: boolean): Promise<void> {
  if (hard) await ahead(tx).deleteFrom('activity_events').where('author_id', '=', userId).execute();
  else
    await ahead(tx)
      .updateTable('activity_events')
      .set({ author_id: ghostId })
      .where('author_id', '=', userId)
      .execute();
}
