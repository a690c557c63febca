/** Events are kept for a while and so many of an error, by setting; what is too old or too many goes, some at a time. */
import { setTimeout as sleep } from 'node:timers/promises';
import { sql } from 'kysely';
import type { Services } from '../../core/services.ts';
import { now } from '../../platform/clock.ts';
import type { Db } from '../../platform/db/database.ts';

const DAY_MS = 86_400_000;
const BATCH = 1_000;
/** With an error goes what is counted of it: thousands of rows of people and tags. */
const BATCH_OF_ERRORS = 20;
/** Errors that are looked at by one statement. */
const ERRORS = 200;
/** Milliseconds that others have the disk to themselves between two batches. */
const PAUSE_MS = 20;

/** Repeats what deletes a batch until it finds less than one; returns how many rows went. */
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

/** Deletes the events that are older than so many days, what was counted of them, and errors without any; 0 keeps all. */
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

/** Of the next errors by id, those that have had more events than are kept. */
async function nextOver(db: Db, after: number, most: number): Promise<Walked> {
  const { rows } = await sql<{ id: number; is_over: boolean }>`
    select id, events_count > ${most} as is_over from errors where id > ${after} order by id limit ${ERRORS}`.execute(
    db,
  );
  return { last: rows.at(-1)?.id ?? null, over: rows.filter(({ is_over }) => is_over).map(({ id }) => id) };
}

/** Deletes of the errors the events before the newest `most`; returns how many. */
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

/** Deletes of every error the events before the newest `most`; returns how many. */
export async function sweepCrowdedErrors(db: Db, most: number): Promise<number> {
  let gone = 0;
  for (let after = 0; ; ) {
    const { last, over } = await nextOver(db, after, most);
    if (last === null) return gone;
    if (over.length > 0) gone += await trimErrors(db, over, most);
    after = last;
  }
}

/** Does both as the settings say. */
export async function sweepErrors({
  database,
  settings,
}: Pick<Services, 'database' | 'settings'>): Promise<void> {
  const { error_tracking_retention_days, error_tracking_events_per_error } = await settings.read();
  await sweepOldErrors(database.background, error_tracking_retention_days);
  await sweepCrowdedErrors(database.background, error_tracking_events_per_error);
}
