/** Writes draft notes, changes and deletes them. */
import { sql } from 'kysely';
import { now } from '../../../platform/clock.ts';
import { ahead, type Db, inTransaction } from '../../../platform/db/database.ts';
import type { Json } from '../../../platform/db/rows.ts';
import { badRequest, notFound } from '../../../platform/failure.ts';
import type { PlacedNote } from '../review/positions.ts';
import type { Suggestion } from '../review/suggestions.ts';
import type { DraftNoteRow, DraftsOf } from './queries.ts';

/** Of one author on one merge request: they are published by one transaction. */
const MAX_DRAFTS = 200;
/** Characters of all of them. */
const MAX_TEXT_LENGTH = 4_194_304;

const tooMany = () => badRequest('Too many draft notes: publish some of them first');

/** Where it will be. */
const placeColumns = (placed: PlacedNote | undefined) => ({
  position: (placed?.position ?? null) as Json,
  line_code: placed?.lineCode ?? null,
});

const storedSuggestions = (suggestions: readonly Suggestion[]) =>
  (suggestions.length === 0 ? null : suggestions) as Json;

/** 400 where the author has too many, or too long ones, beside these characters; others of the author wait meanwhile. */
async function requireRoom(tx: Db, of: DraftsOf, length: number, except = 0): Promise<void> {
  const key = `draft_notes ${of.authorId} ${of.mergeRequestId}`;
  await sql`select pg_advisory_xact_lock(hashtextextended(${key}, 0))`.execute(ahead(tx));
  const { count, total } = await tx
    .selectFrom('draft_notes')
    .select(({ fn }) => [
      fn.countAll<number>().as('count'),
      sql<number>`coalesce(sum(length(note)), 0)::integer`.as('total'),
    ])
    .where('author_id', '=', of.authorId)
    .where('merge_request_id', '=', of.mergeRequestId)
    .where('id', '<>', except)
    .executeTakeFirstOrThrow();
  if (count >= MAX_DRAFTS || total + length > MAX_TEXT_LENGTH) throw tooMany();
}

export type NewDraft = {
  note: string;
  discussionId: string | undefined;
  resolves: boolean;
  commit: string | undefined;
  placed: PlacedNote | undefined;
  suggestions: readonly Suggestion[];
};

/** A reviewer who has approved, or requested changes, stays with that. */
async function startReview(tx: Db, { mergeRequestId, authorId }: DraftsOf): Promise<void> {
  await ahead(tx)
    .updateTable('merge_request_reviewers')
    .set({ state: 'review_started' })
    .where('merge_request_id', '=', mergeRequestId)
    .where('user_id', '=', authorId)
    .where('state', 'not in', ['approved', 'requested_changes', 'review_started'])
    .execute();
}

/** 400 for more than one publishes at once. */
export const insertDraft = (db: Db, of: DraftsOf, draft: NewDraft): Promise<DraftNoteRow> =>
  inTransaction(db, async (tx) => {
    await requireRoom(tx, of, draft.note.length);
    const time = now();
    await startReview(tx, of);
    return tx
      .insertInto('draft_notes')
      .values({
        merge_request_id: of.mergeRequestId,
        author_id: of.authorId,
        discussion_id: draft.discussionId ?? null,
        resolve_discussion: draft.resolves,
        note: draft.note,
        commit_sha: draft.commit ?? null,
        ...placeColumns(draft.placed),
        suggestions: storedSuggestions(draft.suggestions),
        created_at: time,
        updated_at: time,
      })
      .returningAll()
      .executeTakeFirstOrThrow();
  });

/** 404 where it is gone. */
export const updateDraft = (
  db: Db,
  of: DraftsOf,
  id: number,
  { note, placed, suggestions }: Pick<NewDraft, 'note' | 'placed' | 'suggestions'>,
): Promise<DraftNoteRow> =>
  inTransaction(db, async (tx) => {
    await requireRoom(tx, of, note.length, id);
    const changed = await tx
      .updateTable('draft_notes')
      .set({
        note,
        ...(placed && placeColumns(placed)),
        suggestions: storedSuggestions(suggestions),
        updated_at: now(),
      })
      .where('id', '=', id)
      .where('author_id', '=', of.authorId)
      .where('merge_request_id', '=', of.mergeRequestId)
      .returningAll()
      .executeTakeFirst();
    if (!changed) throw notFound('Draft Note');
    return changed;
  });

/** Those that answer no thread, or one of which the author reads a note. */
const isAnswerable = (readsInternal: boolean) =>
  sql<boolean>`(discussion_id is null or exists (select from notes n
    where n.merge_request_id = draft_notes.merge_request_id and n.discussion_id = draft_notes.discussion_id
      and (not n.internal or ${readsInternal})))`;

type Taken = { id: number } | { readsInternal: boolean };

/** Takes the draft of this id, or all of the author's whose threads are there, oldest first; whoever comes later finds none. */
export async function takeDrafts(tx: Db, of: DraftsOf, which: Taken): Promise<DraftNoteRow[]> {
  let query = tx
    .deleteFrom('draft_notes')
    .where('author_id', '=', of.authorId)
    .where('merge_request_id', '=', of.mergeRequestId);
  query = 'id' in which ? query.where('id', '=', which.id) : query.where(isAnswerable(which.readsInternal));
  const taken = await query.returningAll().execute();
  return taken.toSorted((one, other) => one.id - other.id);
}

/** Deletes it; `check` sees the locked row first. 404 where it is gone. */
export const deleteDraft = (
  db: Db,
  of: DraftsOf,
  id: number,
  check: (updatedAt: Date) => void,
): Promise<void> =>
  inTransaction(db, async (tx) => {
    const [draft] = await takeDrafts(tx, of, { id });
    if (!draft) throw notFound('Draft Note');
    check(draft.updated_at);
  });
