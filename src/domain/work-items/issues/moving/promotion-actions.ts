/** Promotes an issue to an epic of its project's group. */

import type { AuthorizedGroup, AuthorizedProject } from '../../../../kernel/access/find.ts';
import { announcementParts } from '../../../../kernel/activity/announce-actions.ts';
import { ahead, inTransaction } from '../../../../platform/db/database.ts';
import { runAsOne } from '../../../../platform/db/run-as-one.ts';
import { Failure } from '../../../../platform/failure.ts';
import { type ActorContext, insertSystemNotes } from '../../../conversation/index.ts';
import { labelsOf } from '../../../planning/index.ts';
import { systemNote } from '../../changes/system-notes.ts';
import { epicNoteable } from '../../epics/records/epic-noteable.ts';
import type { EpicRow } from '../../epics/records/epic-rows.ts';
import { type FoundEpic, findEpicById } from '../../epics/records/find-queries.ts';
import { insertEpic } from '../../epics/writing/actions.ts';
import { lockTrees } from '../../epics/writing/tree-actions.ts';
import { issueNoteable } from '../records/issue-noteable.ts';
import type { IssueRow } from '../records/issue-rows.ts';
import { lockIssue } from '../writing/lock-queries.ts';
import { issueAnnouncement } from '../writing/work-events.ts';
import { closeForGood, copyInterest, copyNotes } from './copy-actions.ts';
import { textsMover } from './text-actions.ts';

const insufficient = () =>
  new Failure('bad_request', 'Cannot promote issue due to insufficient permissions.');

/** The epic of the issue, where the actor may add child epics. */
async function findParent(
  { db, services, actor }: ActorContext,
  issueId: number,
): Promise<FoundEpic | undefined> {
  const link = await db
    .selectFrom('epic_issues')
    .select('epic_id')
    .where('issue_id', '=', issueId)
    .executeTakeFirst();
  if (!link) return undefined;
  try {
    const parent = await findEpicById(db, services.database.points, actor, link.epic_id);
    return parent.group.may('update_epics') ? parent : undefined;
  } catch (error) {
    if (error instanceof Failure && error.kind === 'not_found') return undefined;
    throw error;
  }
}

/**
 * The actor's new epic with the issue's texts, notes and awards, and the labels that the group has, below the
 * epic of the issue. The issue is closed. The quick action checked the permission. 400 when the group is
 * another, or the issue was moved or promoted already; 409 when the tree of epics would be too deep.
 */
export async function promoteIssue(
  context: ActorContext,
  project: AuthorizedProject,
  issue: IssueRow,
  group: AuthorizedGroup,
): Promise<EpicRow> {
  const { db, services, actor } = context;
  if (group.id !== project.row.namespace_id || services.config.tier === 'free') throw insufficient();
  const parent = await findParent(context, issue.id);
  return inTransaction(db, async (tx) => {
    if (parent) await lockTrees(tx);
    const locked = await lockIssue(tx, issue.id);
    if (locked.moved_to_id !== null || locked.promoted_to_epic_id !== null) throw insufficient();
    const labels = (await labelsOf(tx, 'issue', [issue.id])).get(issue.id) ?? [];
    const moveTexts = textsMover(tx, project, group);
    const [description = null] = locked.description === null ? [] : await moveTexts([locked.description]);
    const { title, confidential } = locked;
    const shared = labels.filter(({ project_id }) => project_id === null).map(({ name }) => name);
    const made = await insertEpic(
      context,
      tx,
      group,
      { title, description, confidential, labels: shared },
      parent,
    );
    const fresh = { kind: 'epic', id: made.id, place: group } as const;
    await copyNotes(tx, issue.id, fresh, moveTexts);
    await copyInterest(tx, issue.id, fresh);
    const { user_notes_count, upvotes, downvotes } = locked;
    const counts = { user_notes_count, upvotes, downvotes };
    await ahead(tx).updateTable('epics').set(counts).where('id', '=', made.id).execute();
    const epic = { ...made, ...counts };
    const [to, from] = [`${group.row.full_path}&${epic.iid}`, `${project.fullPath}#${issue.iid}`];
    const statements = [
      insertSystemNotes(tx, issueNoteable(project, locked), actor, [
        systemNote({ what: 'promoted_to', reference: to }),
      ]),
      insertSystemNotes(tx, epicNoteable(group, epic), actor, [
        systemNote({ what: 'promoted_from', reference: from }),
      ]),
    ];
    await closeForGood(context, tx, locked, { promoted_to_epic_id: epic.id });
    const announcement = issueAnnouncement(actor, project, locked, 'issue_promoted', { epic_id: epic.id });
    await runAsOne(tx, { statements, parts: announcementParts([announcement]) });
    return epic;
  });
}
