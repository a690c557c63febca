/** Rows of notes. */
import { type Selectable, sql } from 'kysely';
import { userBasicJson } from '../../../kernel/users/queries.ts';
import type { UserBasicRow } from '../../../kernel/users/records.ts';
import type { NotesTable } from '../../../platform/db/rows.ts';
import { randomHex } from '../../../platform/secret.ts';
import type { NoteableKind } from '../noteables/noteables.ts';

export type NoteRow = Selectable<NotesTable>;

/** A column with what a note tells a mention in; most notes have none. */
export type MentionColumn = Extract<keyof NoteRow, `mentioned_in_${string}_id`>;

/** A note with the rows that its record needs, which come with it by the same statement. */
export type NoteWithRelations = NoteRow & {
  /** Null when the user was deleted meanwhile. */
  author: UserBasicRow | null;
  resolver: UserBasicRow | null;
  /** The number of its noteable, where its kind has numbers. */
  noteable_iid: number | null;
};

/** The texts of these columns, for notes on noteables of these kinds. */
export const noteRelations = (
  table: string,
  kinds: readonly NoteableKind[],
): Record<Exclude<keyof NoteWithRelations, keyof NoteRow>, string> => {
  const numbers = kinds.flatMap(({ numberedIn, column }) =>
    numberedIn ? [`(select iid from ${numberedIn} where id = ${table}.${column})`] : [],
  );
  return {
    author: userBasicJson(`${table}.author_id`),
    resolver: userBasicJson(`${table}.resolved_by_id`),
    noteable_iid: `coalesce(${['null::integer', ...numbers].join(', ')})`,
  };
};

/** The same for a query of Kysely. */
export const selectRelations = (table: string, kinds: readonly NoteableKind[]) => {
  const { author, resolver, noteable_iid } = noteRelations(table, kinds);
  return [
    sql.raw<NoteWithRelations['author']>(author).as('author'),
    sql.raw<NoteWithRelations['resolver']>(resolver).as('resolver'),
    sql.raw<NoteWithRelations['noteable_iid']>(noteable_iid).as('noteable_iid'),
  ] as const;
};

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

/** The note's position in the diff, if any; notes and where they are in newer versions are all that the column is written for. */
export const positionOf = ({ position }: Pick<NoteRow, 'position'>): NotePosition | undefined =>
  (position ?? undefined) as NotePosition | undefined;

/** Whether the text may suggest a change: by a block of code of that name. */
export const maySuggest = (text: string): boolean => text.includes('suggestion');

export type NewNote = {
  body: string;
  internal?: boolean;
  /** The thread of a reply; without it a new one, or none. */
  discussionId?: string;
  inThread?: boolean;
  /** As an answer in a thread that is resolved, which it leaves so. */
  resolved?: boolean;
  createdAt?: Date;
  /** Of several that were published together: one mail tells of all. */
  inReview?: boolean;
  /** The line of a commit that it comments on. */
  line?: { path: string | null; line: number | null; line_type: string | null };
  /** The position in the diff of a commit, of a note that starts or answers a thread there. */
  position?: NotePosition;
  /** The code of the line there, if it is one of text. */
  lineCode?: string | null;
};

export const newDiscussionId = (): string => randomHex(20);

/** Whether it is counted: system notes and internal notes are not. */
export const isCounted = (note: Pick<NoteRow, 'system_action' | 'internal'>): boolean =>
  note.system_action === null && !note.internal;
