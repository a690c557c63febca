/** Time spent on issues, as entries that add up. */
import { sql } from 'kysely';
import type { AuthorizedProject } from '../../../../kernel/access/find.ts';
import { announcementParts } from '../../../../kernel/activity/announce-actions.ts';
import type { Actor } from '../../../../kernel/actor.ts';
import { now } from '../../../../platform/clock.ts';
import { ahead, type Db, inTransaction } from '../../../../platform/db/database.ts';
import { runAsOne, type StatementParts } from '../../../../platform/db/run-as-one.ts';
import { invalid, notFound } from '../../../../platform/failure.ts';
import { insertSystemNotes } from '../../../conversation/index.ts';
import { systemNote } from '../../changes/system-notes.ts';
import { issueNoteable } from '../records/issue-noteable.ts';
import type { IssueRow } from '../records/issue-rows.ts';
import { issueAnnouncement } from '../writing/work-events.ts';

/** Seconds spent on an issue so far. */
export async function timeSpent(db: Db, issueId: number): Promise<number> {
  const { total } = await db
    .selectFrom('timelogs')
    .select(sql<number>`coalesce(sum(seconds), 0)::bigint`.as('total'))
    .where('issue_id', '=', issueId)
    .executeTakeFirstOrThrow();
  return total;
}

const MAX_SECONDS = 2 ** 31 - 1;

/** What an issue is thought to take and has taken, in seconds. */
export type IssueTimes = { estimate: number; spent: number };

/**
 * Adds an entry, or removes time, and returns the times after it; 400 for more than was spent, or than the column takes.
 * The caller checked that the actor may.
 */
export function spendTime(
  db: Db,
  actor: Actor,
  project: AuthorizedProject,
  issue: IssueRow,
  entry: { seconds: number; summary?: string | null | undefined; spentAt?: Date | undefined },
): Promise<IssueTimes> {
  const { seconds, summary = null, spentAt } = entry;
  return inTransaction(db, async (tx) => {
    const { estimate, spent } = await lockTimes(tx, issue.id);
    const total = spent + seconds;
    if (total < 0) throw invalid({ time_spent: ['Time to subtract exceeds the total time spent'] });
    if (total > MAX_SECONDS) throw invalid({ time_spent: ['is too much'] });
    const time = now();
    const log = tx.insertInto('timelogs').values({
      issue_id: issue.id,
      user_id: actor.id,
      seconds,
      summary,
      spent_at: spentAt ?? time,
      created_at: time,
    });
    await writeTimes(tx, actor, { project, issue }, { what: 'time_spent', seconds }, log);
    return { estimate, spent: total };
  });
}

/** Removes all time spent. */
export const resetSpentTime = (
  db: Db,
  actor: Actor,
  project: AuthorizedProject,
  issue: IssueRow,
): Promise<IssueTimes> =>
  inTransaction(db, async (tx) => {
    const { estimate, entries } = await lockTimes(tx, issue.id);
    if (entries > 0) {
      const removal = tx.deleteFrom('timelogs').where('issue_id', '=', issue.id);
      await writeTimes(tx, actor, { project, issue }, { what: 'time_reset' }, removal);
    }
    return { estimate, spent: 0 };
  });

/** The times of the issue, locked until the transaction ends; 404 when it is gone. */
async function lockTimes(tx: Db, id: number): Promise<IssueTimes & { entries: number }> {
  await ahead(tx).selectFrom('issues').select('id').where('id', '=', id).forUpdate().execute();
  const { rows } = await sql<IssueTimes & { entries: number }>`
    select i.time_estimate as estimate, t.spent, t.entries from issues i,
      lateral (select coalesce(sum(seconds), 0)::bigint as spent, count(*) as entries from timelogs where issue_id = i.id) t
    where i.id = ${id}`.execute(tx);
  const [times] = rows;
  if (!times) throw notFound();
  return times;
}

/** Writes the change with its note and announcement, by one statement. */
async function writeTimes(
  tx: Db,
  actor: Actor,
  { project, issue }: { project: AuthorizedProject; issue: IssueRow },
  occurrence: { what: 'time_spent'; seconds: number } | { what: 'time_reset' },
  change: StatementParts['statements'][number],
): Promise<void> {
  const payload = { changes: { [occurrence.what]: true } };
  const announcement = issueAnnouncement(actor, project, issue, 'issue_updated', payload);
  const note = insertSystemNotes(tx, issueNoteable(project, issue), actor, [systemNote(occurrence)]);
  const update = tx.updateTable('issues').set({ updated_at: now() }).where('id', '=', issue.id);
  await runAsOne(tx, { statements: [change, note, update], parts: announcementParts([announcement]) });
}
