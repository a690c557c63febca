/** Draft notes of one author. */
import type { Selectable } from 'kysely';
import type { Db } from '../../../platform/db/database.ts';
import type { DraftNotesTable } from '../../../platform/db/rows.ts';
import { notFound } from '../../../platform/failure.ts';
import type { NotePosition } from '../../conversation/index.ts';
import type { Suggestion } from '../review/suggestions.ts';
import type { DraftNoteRecord } from './schema.ts';

export type DraftNoteRow = Selectable<DraftNotesTable>;

/** Whose drafts on which merge request. */
export type DraftsOf = { mergeRequestId: number; authorId: number };

const draftsOf = (db: Db, { mergeRequestId, authorId }: DraftsOf) =>
  db
    .selectFrom('draft_notes')
    .selectAll()
    .where('author_id', '=', authorId)
    .where('merge_request_id', '=', mergeRequestId);

/** All of them, which are few, oldest first. */
export const selectDrafts = (db: Db, of: DraftsOf): Promise<DraftNoteRow[]> =>
  draftsOf(db, of).orderBy('id').execute();

/** 404 also for drafts of others. */
export async function findDraft(db: Db, of: DraftsOf, id: number): Promise<DraftNoteRow> {
  const draft = await draftsOf(db, of).where('id', '=', id).executeTakeFirst();
  if (!draft) throw notFound('Draft Note');
  return draft;
}

/** The position as the draft stores it. */
export const positionOfDraft = ({ position }: Pick<DraftNoteRow, 'position'>): NotePosition | null =>
  position as NotePosition | null;

/** What its note will suggest. */
export const suggestionsOfDraft = ({ suggestions }: Pick<DraftNoteRow, 'suggestions'>): Suggestion[] =>
  (suggestions ?? []) as Suggestion[];

export const presentDraft = (draft: DraftNoteRow): DraftNoteRecord => ({
  id: draft.id,
  author_id: draft.author_id,
  merge_request_id: draft.merge_request_id,
  resolve_discussion: draft.resolve_discussion,
  discussion_id: draft.discussion_id,
  note: draft.note,
  commit_id: draft.commit_sha,
  line_code: draft.line_code,
  position: positionOfDraft(draft),
});
