/** Time spent on issues and merge requests, as entries that add up. */
import { sql } from 'kysely';
import { type Announcement, announcementParts } from '../../../kernel/activity/announce-actions.ts';
import type { Actor } from '../../../kernel/actor.ts';
import { now } from '../../../platform/clock.ts';
import { ahead, type Db, inTransaction } from '../../../platform/db/database.ts';
import type { Json } from '../../../platform/db/rows.ts';
import { runAsOne, type StatementParts } from '../../../platform/db/run-as-one.ts';
import { invalid, notFound } from '../../../platform/failure.ts';
import { insertSystemNotes, type Noteable } from '../../conversation/index.ts';
import { systemNote } from '../changes/system-notes.ts';
import type { Times } from './time-stats.ts';

/** The table of what time is spent on. */
export type TimedTable = 'issues' | 'merge_requests';

const columns = { issues: 'issue_id', merge_requests: 'merge_request_id' } as const;

/** What time is spent on: its row, and what is told of a change. */
export type Timed = {
  table: TimedTable;
  id: number;
  noteable: Noteable;
  announcement(details: Record<string, Json>): Announcement;
};

/** Seconds spent on it so far. */
export async function timeSpent(db: Db, table: TimedTable, id: number): Promise<number> {
  const { total } = await db
    .selectFrom('timelogs')
    .select(sql<number>`coalesce(sum(seconds), 0)::bigint`.as('total'))
    .where(columns[table], '=', id)
    .executeTakeFirstOrThrow();
  return total;
}

const MAX_SECONDS = 2 ** 31 - 1;

/**
 * Adds an entry, or removes time, and returns the times after it; 400 for more than was spent, or than the column takes.
 * The caller checked that the actor may.
 */
export function spendTime(
  db: Db,
  actor: Actor,
  timed: Timed,
  entry: { seconds: number; summary?: string | null | undefined; spentAt?: Date | undefined },
): Promise<Times> {
  const { seconds, summary = null, spentAt } = entry;
  return inTransaction(db, async (tx) => {
    const { estimate, spent } = await lockTimes(tx, timed);
    const total = spent + seconds;
    if (total < 0) throw invalid({ time_spent: ['Time to subtract exceeds the total time spent'] });
    if (total > MAX_SECONDS) throw invalid({ time_spent: ['is too much'] });
    const time = now();
    const log = tx.insertInto('timelogs').values({
      [columns[timed.table]]: timed.id,
      user_id: actor.id,
      seconds,
      summary,
      spent_at: spentAt ?? time,
      created_at: time,
    });
    await writeTimes(tx, actor, timed, { what: 'time_spent', seconds }, log);
    return { estimate, spent: total };
  });
}

/** Removes all time spent. */
export const resetSpentTime = (db: Db, actor: Actor, timed: Timed): Promise<Times> =>
  inTransaction(db, async (tx) => {
    const { estimate, entries } = await lockTimes(tx, timed);
    if (entries > 0) {
      const removal = tx.deleteFrom('timelogs').where(columns[timed.table], '=', timed.id);
      await writeTimes(tx, actor, timed, { what: 'time_reset' }, removal);
    }
    return { estimate, spent: 0 };
  });

type LockedTimes = Times & { entries: number };

/** The times, locked with their row until the transaction ends; 404 when that is gone. */
async function lockTimes(tx: Db, { table, id }: Timed): Promise<LockedTimes> {
  await ahead(tx).selectFrom(table).select('id').where('id', '=', id).forUpdate().execute();
  const { rows } = await sql<LockedTimes>`
    select i.time_estimate as estimate, t.spent, t.entries from ${sql.table(table)} i,
      lateral (select coalesce(sum(seconds), 0)::bigint as spent, count(*) as entries from timelogs
        where ${sql.ref(columns[table])} = i.id) t
    where i.id = ${id}`.execute(tx);
  const [times] = rows;
  if (!times) throw notFound();
  return times;
}

/** Writes the change with its note and announcement, by one statement. */
async function writeTimes(
  tx: Db,
  actor: Actor,
  { table, id, noteable, announcement }: Timed,
  occurrence: { what: 'time_spent'; seconds: number } | { what: 'time_reset' },
  change: StatementParts['statements'][number],
): Promise<void> {
  const told = announcement({ changes: { [occurrence.what]: true } });
  const note = insertSystemNotes(tx, noteable, actor, [systemNote(occurrence)]);
  const update = tx.updateTable(table).set({ updated_at: now() }).where('id', '=', id);
  await runAsOne(tx, { statements: [change, note, update], parts: announcementParts([told]) });
}
