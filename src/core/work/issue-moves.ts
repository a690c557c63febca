/** Issues that go to another project, or are made there once more. */
import { sql } from 'kysely';
import { now } from '../../platform/clock.ts';
import { type Db, inTransaction } from '../../platform/db/database.ts';
import { Failure } from '../../platform/failure.ts';
import type { AuthorizedProject } from '../access/find.ts';
import { announce } from '../activity/announce.ts';
import type { Actor } from '../identity/actor.ts';
import { insertIssue } from './issue-insert.ts';
import { lockIssue } from './issue-lock.ts';
import { currentSides, findSides, issueReference } from './issue-named.ts';
import type { IssueRow } from './issue-rows.ts';
import { availableMilestoneByTitle } from './milestone-find.ts';
import { writeSystemNotes } from './notes.ts';
import { writeResourceEvents } from './resource-events.ts';
import { systemNote } from './system-notes.ts';
import { issueTarget } from './targets.ts';
import { issueAnnouncement } from './work-events.ts';
import type { WriteContext } from './write-context.ts';

/** 400 with the text alone, as for what is refused for a reason. */
const refused = (reason: string) => new Failure('bad_request', reason);

type Copy = {
  how: 'move' | 'clone';
  withNotes: boolean;
};

/** What of the issue's sides there is in the other project too: labels and milestone by name, people who may read there. */
async function sidesThere(context: WriteContext, issue: IssueRow, to: AuthorizedProject) {
  const { db } = context;
  const here = await currentSides(db, issue.id);
  const milestone =
    issue.milestone_id === null
      ? undefined
      : await db
          .selectFrom('milestones')
          .select('title')
          .where('id', '=', issue.milestone_id)
          .executeTakeFirst();
  const [there, known] = await Promise.all([
    findSides(context, to, {
      assignee_ids: here.assignees.map(({ id }) => id),
      remove_labels: here.labels.map(({ name }) => name),
    }),
    milestone && availableMilestoneByTitle(db, to, milestone.title),
  ]);
  return {
    assigneeIds: (there.assignees ?? []).map(({ id }) => id),
    // Looked up without making those that are missing.
    labelIds: there.removeLabels.map(({ id }) => id),
    milestoneId: known?.id ?? null,
  };
}

/** A new issue in `to` with what the issue says. Moved, it keeps its author and its times; cloned, it is the actor's. */
async function copyIssue(
  context: WriteContext,
  from: AuthorizedProject,
  issue: IssueRow,
  to: AuthorizedProject,
  { how, withNotes }: Copy,
): Promise<IssueRow> {
  const { db, actor } = context;
  const moves = how === 'move';
  const sides = await sidesThere(context, issue, to);
  return inTransaction(db, async (tx) => {
    const locked = await lockIssue(tx, issue.id);
    if (moves && locked.moved_to_id !== null) throw insufficient(how);
    const { issue: born } = await insertIssue(tx, actor, to, {
      iid: null,
      authorId: moves ? locked.author_id : actor.id,
      title: locked.title,
      description: locked.description,
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
      reminders: [],
      ...sides,
    });
    if (withNotes) await copyNotes(tx, issue.id, born);
    if (moves) await takeAlong(tx, issue.id, born.id);
    await tellBoth(context, tx, { project: from, issue: locked }, { project: to, issue: born }, how);
    if (moves) await close(tx, actor, locked, born.id);
    return finish(tx, locked, born, { how, withNotes });
  });
}

type Placed = { issue: IssueRow; project: AuthorizedProject };

async function tellBoth(
  { actor }: WriteContext,
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
  for (const { here, there, what } of sides) {
    const reference = issueReference(here.project, there.project, there.issue);
    const note = systemNote({ what, reference });
    await writeSystemNotes(tx, issueTarget(here.project, here.issue), actor, [note]);
  }
  const event = how === 'move' ? 'issue_moved' : 'issue_cloned';
  await announce(
    tx,
    issueAnnouncement(actor, old.project, old.issue, event, { new_issue_id: fresh.issue.id }),
  );
}

/** Threads stay threads, under a new id of their own. */
const copyNotes = (tx: Db, from: number, to: IssueRow) =>
  sql`insert into notes (project_id, issue_id, author_id, body, discussion_id, in_thread, system_action, internal,
      resolved_at, resolved_by_id, last_edited_at, created_at, updated_at)
    select ${to.project_id}, ${to.id}, author_id, body,
      left(encode(sha256((discussion_id || ' ' || ${to.id}::bigint)::bytea), 'hex'), 40), in_thread, system_action,
      internal, resolved_at, resolved_by_id, last_edited_at, created_at, updated_at
    from notes where issue_id = ${from} order by created_at, id`.execute(tx);

/** Awards, time and who wants to hear of it; and the links, which are of both from then on. */
async function takeAlong(tx: Db, from: number, to: number): Promise<void> {
  await sql`insert into award_emoji (name, user_id, issue_id, created_at, updated_at)
    select name, user_id, ${to}, created_at, updated_at from award_emoji where issue_id = ${from} order by id`.execute(
    tx,
  );
  await sql`insert into timelogs (issue_id, user_id, seconds, summary, spent_at, created_at)
    select ${to}, user_id, seconds, summary, spent_at, created_at from timelogs where issue_id = ${from} order by id`.execute(
    tx,
  );
  await sql`insert into subscriptions (user_id, issue_id, subscribed, created_at, updated_at)
    select user_id, ${to}, subscribed, created_at, updated_at from subscriptions where issue_id = ${from}`.execute(
    tx,
  );
  await sql`insert into issue_links (source_id, target_id, link_type, created_at, updated_at)
    select case source_id when ${from} then ${to}::bigint else source_id end,
      case target_id when ${from} then ${to}::bigint else target_id end, link_type, created_at, updated_at
    from issue_links where source_id = ${from} or target_id = ${from} order by id`.execute(tx);
}

/** The new issue takes the place of the old one. */
async function close(tx: Db, actor: Actor, old: IssueRow, newId: number): Promise<void> {
  const time = now();
  const closed = { state: 'closed', closed_at: time, closed_by_id: actor.id };
  await tx
    .updateTable('issues')
    .set({ ...(old.state !== 'closed' && closed), moved_to_id: newId, updated_at: time })
    .where('id', '=', old.id)
    .execute();
  if (old.state === 'closed') return;
  await writeResourceEvents(tx, { issueId: old.id }, actor.id, [{ kind: 'state', action: 'closed' }]);
}

/** The counts that came along with notes and awards, and, of one that moved, how it stood. */
const finish = (tx: Db, old: IssueRow, born: IssueRow, { how, withNotes }: Copy): Promise<IssueRow> =>
  tx
    .updateTable('issues')
    .set({
      updated_at: born.updated_at,
      ...(withNotes && { user_notes_count: old.user_notes_count }),
      ...(how === 'move' && {
        upvotes: old.upvotes,
        downvotes: old.downvotes,
        state: old.state,
        closed_at: old.closed_at,
        closed_by_id: old.closed_by_id,
      }),
    })
    .where('id', '=', born.id)
    .returningAll()
    .executeTakeFirstOrThrow();

const insufficient = (how: Copy['how']) => refused(`Cannot ${how} issue due to insufficient permissions!`);

/** The issue in another project; what was there is closed. 400 unless the caller manages the issues of both. */
export async function moveIssue(
  context: WriteContext,
  from: AuthorizedProject,
  issue: IssueRow,
  to: AuthorizedProject,
): Promise<IssueRow> {
  if (from.id === to.id) throw refused('Cannot move issue to project it originates from!');
  if (!from.may('update_issues') || !to.may('update_issues')) throw insufficient('move');
  if (issue.moved_to_id !== null) throw insufficient('move');
  return copyIssue(context, from, issue, to, { how: 'move', withNotes: true });
}

/** Another issue that says the same, here or in another project. 400 unless the caller manages the issues of both. */
export async function cloneIssue(
  context: WriteContext,
  from: AuthorizedProject,
  issue: IssueRow,
  to: AuthorizedProject,
  withNotes: boolean,
): Promise<IssueRow> {
  if (!from.may('update_issues') || !to.may('update_issues')) throw insufficient('clone');
  return copyIssue(context, from, issue, to, { how: 'clone', withNotes });
}
