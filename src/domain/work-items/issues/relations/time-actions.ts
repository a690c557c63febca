/** Time spent on issues, as entries that add up. */
import { sql } from 'kysely';
import type { AuthorizedProject } from '../../../../kernel/access/find.ts';
import { announcementParts } from '../../../../kernel/activity/announce-actions.ts';
import type { Actor } from '../../../../kernel/actor.ts';
import { now } from '../../../../platform/clock.ts';
import { type Db, inTransaction } from '../../../../platform/db/database.ts';
import { runAsOne } from '../../../../platform/db/run-as-one.ts';
import { invalid } from '../../../../platform/failure.ts';
import { insertSystemNotes } from '../../../conversation/index.ts';
import { systemNote } from '../../changes/system-notes.ts';
import { issueNoteable } from '../records/issue-noteable.ts';
import type { IssueRow } from '../records/issue-rows.ts';
import { lockIssue } from '../writing/lock-queries.ts';
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

/**
 * Adds an entry, or removes time; 400 for more than was spent, or than the column takes. The caller checked
 * that the actor may.
 */
export function spendTime(
  db: Db,
  actor: Actor,
  project: AuthorizedProject,
  issue: IssueRow,
  entry: { seconds: number; summary?: string | null | undefined; spentAt?: Date | undefined },
): Promise<void> {
  const { seconds, summary = null, spentAt } = entry;
  return inTransaction(db, async (tx) => {
    await lockIssue(tx, issue.id);
    const total = (await timeSpent(tx, issue.id)) + seconds;
    if (total < 0) throw invalid({ time_spent: ['Time to subtract exceeds the total time spent'] });
    if (total > MAX_SECONDS) throw invalid({ time_spent: ['is too much'] });
    const time = now();
    await tx
      .insertInto('timelogs')
      .values({
        issue_id: issue.id,
        user_id: actor.id,
        seconds,
        summary,
        spent_at: spentAt ?? time,
        created_at: time,
      })
      .execute();
    await addTimeNote(tx, actor, project, issue, { what: 'time_spent', seconds });
  });
}

const MAX_SECONDS = 2 ** 31 - 1;

/** Removes all time spent. */
export function resetSpentTime(
  db: Db,
  actor: Actor,
  project: AuthorizedProject,
  issue: IssueRow,
): Promise<void> {
  return inTransaction(db, async (tx) => {
    await lockIssue(tx, issue.id);
    const gone = await tx.deleteFrom('timelogs').where('issue_id', '=', issue.id).executeTakeFirst();
    if (gone.numDeletedRows > 0n) await addTimeNote(tx, actor, project, issue, { what: 'time_reset' });
  });
}

async function addTimeNote(
  tx: Db,
  actor: Actor,
  project: AuthorizedProject,
  issue: IssueRow,
  occurrence: { what: 'time_spent'; seconds: number } | { what: 'time_reset' },
): Promise<void> {
  const payload = { changes: { [occurrence.what]: true } };
  const announcement = issueAnnouncement(actor, project, issue, 'issue_updated', payload);
  const note = insertSystemNotes(tx, issueNoteable(project, issue), actor, [systemNote(occurrence)]);
  await runAsOne(
    tx,
    { statements: [note], parts: announcementParts([announcement]) },
    tx.updateTable('issues').set({ updated_at: now() }).where('id', '=', issue.id),
  );
}
