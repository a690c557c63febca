/** Writes notes: comments of users, and system notes. */
import { type Selectable, sql } from 'kysely';
import { now } from '../../../platform/clock.ts';
import type { Db } from '../../../platform/db/database.ts';
import type { Json, NotesTable } from '../../../platform/db/rows.ts';
import { randomHex } from '../../../platform/secret.ts';
import { type Noteable, noteableColumns } from '../noteables/noteables.ts';

export type NoteRow = Selectable<NotesTable>;

/** Two compared commits, and a position in their diff: a line, a point of an image, or a file. */
export type NotePosition = {
  base_sha: string;
  start_sha: string;
  head_sha: string;
  old_path: string | null;
  new_path: string | null;
  position_type: 'text' | 'image' | 'file';
  old_line?: number | null;
  new_line?: number | null;
  line_range?: { start: LineEnd; end: LineEnd } | null;
  width?: number | null;
  height?: number | null;
  x?: number | null;
  y?: number | null;
};
type LineEnd = {
  line_code: string | null;
  type: string | null;
  old_line: number | null;
  new_line: number | null;
};

/** The note's position in the diff of its commit, if any; only createNote() writes the column. */
export const positionOf = ({ position }: Pick<NoteRow, 'position'>): NotePosition | undefined =>
  (position ?? undefined) as NotePosition | undefined;

export type NewNote = {
  body: string;
  internal?: boolean;
  /** The thread of a reply; without it a new one, or none. */
  discussionId?: string;
  inThread?: boolean;
  systemAction?: string;
  createdAt?: Date;
  /** The line of a commit that it comments on. */
  line?: { path: string | null; line: number | null; line_type: string | null };
  /** The position in the diff of a commit, of a note that starts or answers a thread there. */
  position?: NotePosition;
};

export const newDiscussionId = (): string => randomHex(20);

const noteRow = (noteable: Noteable, author: { id: number }, note: NewNote, time: Date) => ({
  ...noteableColumns(noteable),
  author_id: author.id,
  body: note.body,
  discussion_id: note.discussionId ?? newDiscussionId(),
  in_thread: note.inThread ?? false,
  system_action: note.systemAction ?? null,
  internal: note.internal ?? false,
  ...note.line,
  position: note.position ? sql<Json>`${JSON.stringify(note.position)}::text::jsonb` : null,
  created_at: note.createdAt ?? time,
  updated_at: note.createdAt ?? time,
});

/** Whether it is counted: system notes and internal notes are not. */
export const isCounted = (note: Pick<NoteRow, 'system_action' | 'internal'>): boolean =>
  note.system_action === null && !note.internal;

/** Adjusts the count of notes where the noteable has one. */
export async function countNotes(tx: Db, { kind, id }: Noteable, difference: number): Promise<void> {
  if (kind.countedIn === undefined) return;
  await tx
    .updateTable(kind.countedIn)
    .set({
      user_notes_count: sql<number>`greatest(user_notes_count + ${difference}::integer, 0)`,
      updated_at: now(),
    })
    .where('id', '=', id ?? 0)
    .execute();
}

/** Writes one note and counts it. Call it inside a transaction. */
export async function writeNote(
  tx: Db,
  noteable: Noteable,
  author: { id: number },
  note: NewNote,
): Promise<NoteRow> {
  const row = await tx
    .insertInto('notes')
    .values(noteRow(noteable, author, note, now()))
    .returningAll()
    .executeTakeFirstOrThrow();
  if (row.system_action === null) await countNotes(tx, noteable, isCounted(row) ? 1 : 0);
  return row;
}

/** Writes system notes, by one statement. */
export async function writeSystemNotes(
  tx: Db,
  noteable: Noteable,
  author: { id: number },
  notes: readonly { body: string; action: string; createdAt?: Date }[],
): Promise<void> {
  if (notes.length === 0) return;
  const time = now();
  const rows = notes.map(({ body, action, createdAt }) =>
    noteRow(noteable, author, { body, systemAction: action, ...(createdAt && { createdAt }) }, time),
  );
  await tx.insertInto('notes').values(rows).execute();
}
