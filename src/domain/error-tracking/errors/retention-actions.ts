/**
 * Events are kept for a time and up to a number for each error, by setting; the rest is deleted in batches.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { sql } from 'kysely';
import type { Needs } from '../../../kernel/services.ts';
import { now } from '../../../platform/clock.ts';
import type { Db } from '../../../platform/db/database.ts';

const DAY_MS = 86_400_000;
const BATCH = 1_000;
/** Fewer, because the deletion of an error deletes thousands of rows of people and tags. */
const BATCH_OF_ERRORS = 20;
/** Errors that one statement checks. */
const ERRORS = 200;
/** Milliseconds between two batches, in which the disk is free for others. */
const PAUSE_MS = 20;

/** Repeats a deletion until a batch is not full; returns the number of deleted rows. */
async function inBatches(deleteBatch: () => Promise<number>, size = BATCH): Promise<number> {
  for (let gone = 0; ; ) {
    const some = await deleteBatch();
    gone += some;
    if (some < size) return gone;
    await sleep(PAUSE_MS);
  }
}

const affected = async (statement: Promise<{ numAffectedRows?: bigint | undefined }>): Promise<number> =>
  Number((await statement).numAffectedRows ?? 0n);

/** Deletes events older than `days`, old counts, and errors without events; 0 keeps all. */
export async function sweepOldErrors(db: Db, days: number): Promise<number> {
  if (days === 0) return 0;
  const before = new Date(now().getTime() - days * DAY_MS);
  const events = await inBatches(() =>
    affected(
      sql`delete from error_events where id in (
        select id from error_events where received_at < ${before} order by received_at limit ${BATCH}
        for update skip locked)`.execute(db),
    ),
  );
  await inBatches(() =>
    affected(
      sql`delete from error_counts where (error_id, hour) in (
        select error_id, hour from error_counts where hour < ${before} order by hour limit ${BATCH}
        for update skip locked)`.execute(db),
    ),
  );
  await inBatches(
    () =>
      affected(
        sql`delete from errors where id in (
          select id from errors e where last_seen_at < ${before}
            and not exists (select from error_events v where v.error_id = e.id)
          order by last_seen_at limit ${BATCH_OF_ERRORS} for update skip locked)`.execute(db),
      ),
    BATCH_OF_ERRORS,
  );
  return events;
}

type Walked = { last: number | null; over: number[] };

/** Of the next errors by id, those with more events than are kept. */
async function nextOver(db: Db, after: number, most: number): Promise<Walked> {
  const { rows } = await sql<{ id: number; is_over: boolean }>`
    select id, events_count > ${most} as is_over from errors where id > ${after} order by id limit ${ERRORS}`.execute(
    db,
  );
  return { last: rows.at(-1)?.id ?? null, over: rows.filter(({ is_over }) => is_over).map(({ id }) => id) };
}

/** Deletes all but the newest `most` events of the errors; returns the number of deleted ones. */
export const trimErrors = (db: Db, errorIds: readonly number[], most: number): Promise<number> =>
  inBatches(() =>
    affected(
      sql`delete from error_events where id in (
        select v.id from unnest(${[...errorIds]}::bigint[]) as e(id)
          cross join lateral (
            select id from error_events where error_id = e.id order by id desc offset ${most} limit 1) as newest
          cross join lateral (
            select id from error_events where error_id = e.id and id <= newest.id order by id limit ${BATCH}
            for update skip locked) as v
        limit ${BATCH})`.execute(db),
    ),
  );

/** Deletes all but the newest `most` events of every error; returns the number of deleted ones. */
export async function sweepCrowdedErrors(db: Db, most: number): Promise<number> {
  let gone = 0;
  for (let after = 0; ; ) {
    const { last, over } = await nextOver(db, after, most);
    if (last === null) return gone;
    if (over.length > 0) gone += await trimErrors(db, over, most);
    after = last;
  }
}

export async function sweepErrors({ database, settings }: Needs<'database' | 'settings'>): Promise<void> {
  const { error_tracking_retention_days, error_tracking_events_per_error } = await settings.read();
  await sweepOldErrors(database.background, error_tracking_retention_days);
  await sweepCrowdedErrors(database.background, error_tracking_events_per_error);
}
