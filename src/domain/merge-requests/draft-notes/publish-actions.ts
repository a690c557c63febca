/** Publishes draft notes: one, or all of an author's as one review. */
import { sql } from 'kysely';
import { announce } from '../../../kernel/activity/announce-actions.ts';
import { now } from '../../../platform/clock.ts';
import { ahead, type Db, inTransaction } from '../../../platform/db/database.ts';
import { notFound } from '../../../platform/failure.ts';
import {
  addTodos,
  createNote,
  findThread,
  insertSystemNotes,
  type Noteable,
  setResolved,
  type WriteContext,
} from '../../conversation/index.ts';
import { mergeRequestNotes } from '../note-texts/system-notes.ts';
import { mergeRequestKind } from '../records/merge-request-noteable.ts';
import type { MergeRequestRow } from '../records/merge-request-rows.ts';
import { writeSuggestions } from '../suggestions/actions.ts';
import { mergeRequestAnnouncement } from '../writing/announcements.ts';
import { askToTrace } from '../writing/trace-actions.ts';
import { takeDrafts } from './actions.ts';
import { type DraftNoteRow, positionOfDraft, suggestionsOfDraft } from './queries.ts';

/** The id of the note; undefined where the draft was of quick actions alone. 404 where the thread is gone that it answers. */
async function publishDraft(
  context: WriteContext,
  noteable: Noteable,
  draft: DraftNoteRow,
  inReview: boolean,
): Promise<number | undefined> {
  const { db, actor } = context;
  const { discussion_id } = draft;
  const thread = discussion_id === null ? undefined : await findThread(context, noteable, discussion_id);
  const position = positionOfDraft(draft);
  const suggestions = suggestionsOfDraft(draft);
  const place = thread
    ? { thread }
    : position
      ? { position, lineCode: draft.line_code, beginsThread: true }
      : {};
  const { note } = await createNote(
    context,
    noteable,
    { body: draft.note },
    {
      ...place,
      draft: {
        inReview,
        ...(suggestions.length > 0 && {
          suggest: (within, noteId) => writeSuggestions(within, noteId, suggestions),
        }),
      },
    },
  );
  if (note && thread && mergeRequestKind.mayResolve?.(noteable, actor))
    await setResolved(db, context, noteable, [...thread, note], draft.resolve_discussion);
  return note?.id;
}

/** Publishes the draft by itself; 404 where it is published already. */
export const publishOne = (
  context: WriteContext,
  noteable: Noteable,
  row: MergeRequestRow,
  id: number,
): Promise<void> =>
  inTransaction(context.db, async (tx) => {
    const within = { ...context, db: tx };
    const [draft] = await takeDrafts(tx, { mergeRequestId: row.id, authorId: context.actor.id }, { id });
    if (!draft) throw notFound('Draft Note');
    await publishDraft(within, noteable, draft, false);
    if (draft.position !== null) await askToTrace(tx, row, context.actor);
  });

/** A reviewer who has approved, or requested changes, has said more than that. */
async function setReviewed(tx: Db, { id }: MergeRequestRow, userId: number): Promise<void> {
  // A draft's quick action may have approved it before its author was a reviewer.
  const state = sql<string>`case when exists (select from merge_request_approvals
    where merge_request_id = ${id} and user_id = ${userId}) then 'approved' else 'reviewed' end`;
  await ahead(tx)
    .insertInto('merge_request_reviewers')
    .values({ merge_request_id: id, user_id: userId, state, created_at: now() })
    .onConflict((known) =>
      known
        .columns(['merge_request_id', 'user_id'])
        .doUpdateSet(({ ref }) => ({ state: ref('excluded.state') }))
        .where('merge_request_reviewers.state', 'not in', ['approved', 'requested_changes']),
    )
    .execute();
}

/** Says that the notes of a review are there, in a note and to those whose work it is about; their author does not review it. */
async function writeReviewed(
  { db: tx, actor }: WriteContext,
  noteable: Noteable,
  row: MergeRequestRow,
): Promise<void> {
  if (row.author_id === actor.id) return;
  await setReviewed(tx, row, actor.id);
  await insertSystemNotes(ahead(tx), noteable, actor, [mergeRequestNotes.reviewed()])?.execute();
  const assignees = await tx
    .selectFrom('merge_request_assignees')
    .select('user_id')
    .where('merge_request_id', '=', row.id)
    .execute();
  const concerned = new Set([row.author_id, ...assignees.map(({ user_id }) => user_id)]);
  concerned.delete(actor.id);
  const todos = [...concerned].map((userId) => ({ userId, action: 'review_submitted' as const }));
  await addTodos(tx, { author: actor, target: noteable }, todos);
}

/**
 * Publishes the caller's drafts, by one transaction; nothing where there is none. Those whose threads are gone stay. One fact
 * tells of them.
 */
export const publishReview = (
  context: WriteContext,
  noteable: Noteable,
  row: MergeRequestRow,
): Promise<void> =>
  inTransaction(context.db, async (tx) => {
    const { actor } = context;
    const readsInternal = noteable.project?.may('read_internal_notes') ?? false;
    const drafts = await takeDrafts(tx, { mergeRequestId: row.id, authorId: actor.id }, { readsInternal });
    if (drafts.length === 0) return;
    const ids: number[] = [];
    for (const draft of drafts) {
      const id = await publishDraft({ ...context, db: tx }, noteable, draft, true);
      if (id !== undefined) ids.push(id);
    }
    await writeReviewed({ ...context, db: tx }, noteable, row);
    if (drafts.some(({ position }) => position !== null)) await askToTrace(tx, row, actor);
    if (ids.length === 0 || !noteable.project) return;
    const details = { note_ids: ids };
    await announce(
      tx,
      mergeRequestAnnouncement(actor, noteable.project, row, 'merge_request_reviewed', details),
    );
  });
