/** Moves and clones issues to projects. */

import type { AuthorizedProject } from '../../../../kernel/access/find.ts';
import { announcementParts } from '../../../../kernel/activity/announce-actions.ts';
import { now } from '../../../../platform/clock.ts';
import { ahead, type Db, inTransaction } from '../../../../platform/db/database.ts';
import { runAsOne } from '../../../../platform/db/run-as-one.ts';
import { Failure } from '../../../../platform/failure.ts';
import { type ActorContext, insertSystemNotes } from '../../../conversation/index.ts';
import { availableMilestoneByTitle } from '../../../planning/index.ts';
import { systemNote } from '../../changes/system-notes.ts';
import { issueNoteable } from '../records/issue-noteable.ts';
import type { IssueRow } from '../records/issue-rows.ts';
import { insertIssue, type PreparedIssue } from '../writing/insert-actions.ts';
import { lockIssue } from '../writing/lock-queries.ts';
import { selectCurrent } from '../writing/relation-queries.ts';
import { issueReference, resolveReferences } from '../writing/resolve-references.ts';
import { issueAnnouncement } from '../writing/work-events.ts';
import { closeForGood, copyNotes, takeAlong } from './copy-actions.ts';
import { textsMover } from './text-actions.ts';

/** 400 with the reason as its message. */
const refused = (reason: string) => new Failure('bad_request', reason);

type Copy = {
  how: 'move' | 'clone';
  withNotes: boolean;
};

/** The issue's relations in the other project: labels and milestone by name, assignees who read it. */
async function relationsThere(context: ActorContext, issue: IssueRow, to: AuthorizedProject) {
  const { db } = context;
  const { relations: here } = await selectCurrent(db, issue.id);
  const title = db.selectFrom('milestones as m').select('m.title').where('m.id', '=', issue.milestone_id);
  const [there, known] = await Promise.all([
    resolveReferences(context, to, {
      assignee_ids: here.assignees.map(({ id }) => id),
      remove_labels: here.labels.map(({ name }) => name),
    }),
    issue.milestone_id === null ? undefined : availableMilestoneByTitle(db, to, title.$asScalar()),
  ]);
  return {
    assigneeIds: (there.assignees ?? []).map(({ id }) => id),
    // Parsed as `remove_labels`, which creates none.
    labelIds: there.removeLabels.map(({ id }) => id),
    milestoneId: known?.id ?? null,
  };
}

/**
 * A new issue in `to` with the old one's texts. Moved, it keeps author and times; cloned, it is the actor's.
 */
async function copyIssue(
  context: ActorContext,
  from: AuthorizedProject,
  issue: IssueRow,
  to: AuthorizedProject,
  { how, withNotes }: Copy,
): Promise<IssueRow> {
  const { db, actor } = context;
  const moves = how === 'move';
  const sides = await relationsThere(context, issue, to);
  return inTransaction(db, async (tx) => {
    const locked = await lockIssue(tx, issue.id);
    if (moves && locked.moved_to_id !== null) throw insufficient(how);
    const moveTexts = textsMover(tx, from, to);
    const [description = null] = locked.description === null ? [] : await moveTexts([locked.description]);
    const copy: PreparedIssue = {
      iid: null,
      authorId: moves ? locked.author_id : actor.id,
      title: locked.title,
      description,
      issueType: locked.issue_type,
      severity: locked.severity,
      confidential: locked.confidential,
      discussionLocked: locked.discussion_locked,
      startDate: locked.start_date,
      dueDate: locked.due_date,
      weight: locked.weight,
      healthStatus: locked.health_status,
      timeEstimate: locked.time_estimate,
      userAgent: locked.user_agent,
      address: locked.ip_address,
      createdAt: moves ? locked.created_at : now(),
      epicId: null,
      todos: [],
      ...sides,
    };
    const { issue: born } = await insertIssue(tx, { actor, project: to, issue: copy });
    const fresh = { kind: 'issue', id: born.id, place: to } as const;
    if (withNotes) await copyNotes(tx, issue.id, fresh, moveTexts);
    if (moves) await takeAlong(tx, issue.id, born.id);
    await addNotesToBoth(context, tx, { project: from, issue: locked }, { project: to, issue: born }, how);
    if (moves) await closeForGood(context, tx, locked, { moved_to_id: born.id });
    // The counts of copied notes and awards, and the state of a moved issue.
    const columns = {
      updated_at: born.updated_at,
      ...(withNotes && { user_notes_count: locked.user_notes_count }),
      ...(moves && {
        upvotes: locked.upvotes,
        downvotes: locked.downvotes,
        state: locked.state,
        closed_at: locked.closed_at,
        closed_by_id: locked.closed_by_id,
      }),
    };
    await ahead(tx).updateTable('issues').set(columns).where('id', '=', born.id).execute();
    return { ...born, ...columns };
  });
}

type Placed = { issue: IssueRow; project: AuthorizedProject };

async function addNotesToBoth(
  { actor }: ActorContext,
  tx: Db,
  old: Placed,
  fresh: Placed,
  how: Copy['how'],
): Promise<void> {
  const [to, from] =
    how === 'move' ? (['moved_to', 'moved_from'] as const) : (['cloned_to', 'cloned_from'] as const);
  const sides = [
    { here: old, there: fresh, what: to },
    { here: fresh, there: old, what: from },
  ];
  const statements = sides.map(({ here, there, what }) => {
    const reference = issueReference(here.project, there.project, there.issue);
    const note = systemNote({ what, reference });
    return insertSystemNotes(tx, issueNoteable(here.project, here.issue), actor, [note]);
  });
  const event = how === 'move' ? 'issue_moved' : 'issue_cloned';
  const payload = { new_issue_id: fresh.issue.id };
  const announcement = issueAnnouncement(actor, old.project, old.issue, event, payload);
  await runAsOne(tx, { statements, parts: announcementParts([announcement]) });
}

const insufficient = (how: Copy['how']) => refused(`Cannot ${how} issue due to insufficient permissions!`);

/** The issue in another project; the old one is closed. 400 unless the caller manages the issues of both. */
export async function moveIssue(
  context: ActorContext,
  from: AuthorizedProject,
  issue: IssueRow,
  to: AuthorizedProject,
): Promise<IssueRow> {
  if (from.id === to.id) throw refused('Cannot move issue to project it originates from!');
  if (!from.may('update_issues') || !to.may('update_issues')) throw insufficient('move');
  if (issue.moved_to_id !== null) throw insufficient('move');
  return copyIssue(context, from, issue, to, { how: 'move', withNotes: true });
}

/** A clone in this or another project. 400 unless the caller manages the issues of both. */
export async function cloneIssue(
  context: ActorContext,
  from: AuthorizedProject,
  issue: IssueRow,
  to: AuthorizedProject,
  withNotes: boolean,
): Promise<IssueRow> {
  if (!from.may('update_issues') || !to.may('update_issues')) throw insufficient('clone');
  return copyIssue(context, from, issue, to, { how: 'clone', withNotes });
}
