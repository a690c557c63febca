/**
 * Inserts comments by one statement: the note, its noteable's count, the author's to-dos that it answers, and the
 * announcement. Comments that one process takes at the same time are inserted as a batch. System notes are only inserted.
 */
import { CompiledQuery } from 'kysely';
import {
  type Announcement,
  announcementColumns,
  announcementRow,
  announcementStatements,
} from '../../../kernel/activity/announce-actions.ts';
import type { Actor } from '../../../kernel/actor.ts';
import { now } from '../../../platform/clock.ts';
import { batchedWrite } from '../../../platform/db/batched-write.ts';
import type { Db } from '../../../platform/db/database.ts';
import { recordset } from '../../../platform/db/recordset.ts';
import { type Noteable, type NoteableKind, noteableColumns } from '../noteables/noteables.ts';
import { noteAnnouncement } from './announcements.ts';
import { type NewNote, type NoteWithRelations, newDiscussionId, noteRelations } from './notes.ts';

/** A comment of the actor on the noteable. */
export type NoteInsert = { actor: Actor; noteable: Noteable; note: NewNote };

/** The columns that refer to noteables, of which a note has one. */
const targetColumns = {
  issue_id: 'bigint',
  epic_id: 'bigint',
  merge_request_id: 'bigint',
  snippet_id: 'bigint',
  alert_id: 'bigint',
  commit_sha: 'text',
} as const;

const noteColumns = {
  ...targetColumns,
  project_id: 'bigint',
  namespace_id: 'bigint',
  author_id: 'bigint',
  body: 'text',
  discussion_id: 'text',
  in_thread: 'boolean',
  internal: 'boolean',
  path: 'text',
  line: 'integer',
  line_type: 'text',
  position: 'jsonb',
  line_code: 'text',
  resolved_at: 'timestamptz',
  resolved_by_id: 'bigint',
  created_at: 'timestamptz',
} as const;

const inputColumns = { ordinal: 'integer', is_reply: 'boolean', ...announcementColumns } as const;

const quoted = (name: string): string => `"${name}"`;
const columns = Object.keys(noteColumns).map(quoted).join(', ');
const given = recordset('$1', 'given', {
  ...inputColumns,
  ...Object.fromEntries(Object.entries(noteColumns).map(([name, type]) => [quoted(name), type])),
});

const announcementOf = ({ actor, noteable, note }: NoteInsert): Announcement =>
  noteAnnouncement(actor, noteable, {
    inThread: note.inThread ?? false,
    inDiff: note.position !== undefined,
    internal: note.internal ?? false,
    inReview: note.inReview ?? false,
    body: note.body,
  });

const givenRow = (insert: NoteInsert, ordinal: number, moment: Date) => {
  const { actor, noteable, note } = insert;
  return {
    ...announcementRow(announcementOf(insert), moment),
    ...noteableColumns(noteable),
    ...note.line,
    ordinal,
    is_reply: note.discussionId !== undefined,
    author_id: actor.id,
    body: note.body,
    discussion_id: note.discussionId ?? newDiscussionId(),
    in_thread: note.inThread ?? false,
    internal: note.internal ?? false,
    position: note.position,
    line_code: note.lineCode,
    ...(note.resolved && { resolved_at: moment, resolved_by_id: actor.id }),
    created_at: note.createdAt ?? moment,
  };
};

const sameTarget = (table: string): string => {
  const names = [...Object.keys(targetColumns), 'project_id', 'namespace_id'];
  const columnsOf = (of: string) => names.map((name) => `${of}.${name}`).join(', ');
  return `(${columnsOf(table)}) is not distinct from (${columnsOf('g')})`;
};

/** Rows are locked in the order of their ids, which avoids deadlocks. */
const counted = ({ countedIn, column }: NoteableKind): string => `
  counted_${column} as (update ${countedIn} t set user_notes_count = t.user_notes_count + c.count, updated_at = c.at
    from (select i.id, c.count, c.at from ${countedIn} i
      join (select ${column} as id, count(*) filter (where not internal) as count, max(announced_at) as at
        from given where ${column} is not null group by 1) c using (id)
      order by i.id for no key update of i) c
    where t.id = c.id)`;

const completed = ({ column }: NoteableKind): string => `
  completed_${column} as (update todos t set state = 'done', updated_at = g.announced_at from given g
    where t.user_id = g.author_id and t.state = 'pending' and t.${column} = g.${column}
      and (g.project_id is null or t.project_id = g.project_id))`;

/** A single note that is answered becomes a thread. */
const joined = `
  joined as (update notes n set in_thread = true from given g
    where g.is_reply and n.discussion_id = g.discussion_id and not n.in_thread and ${sameTarget('n')})`;

function insertion(inserts: readonly NoteInsert[], lockTimeout?: string): string {
  const kinds = [...new Set(inserts.map(({ noteable }) => noteable.kind))];
  const relations = Object.entries(noteRelations('made', kinds));
  const parts = [
    `given as materialized (select nextval(pg_get_serial_sequence('notes', 'id')) as id, given.*
      ${lockTimeout === undefined ? '' : `, ${lockTimeout} as lock_timeout`} from ${given})`,
    ...kinds.filter(({ countedIn }) => countedIn).map(counted),
    ...kinds.filter(({ hasTodos }) => hasTodos).map(completed),
    ...(inserts.some(({ note }) => note.discussionId !== undefined) ? [joined] : []),
    `made as (insert into notes (id, updated_at, ${columns}) select id, created_at, ${columns} from given returning *)`,
    ...announcementStatements(inserts.map(announcementOf), 'given', 'note_id'),
  ];
  return `with ${parts.join(',\n')}
    select made.*, ${relations.map(([name, text]) => `${text} as ${name}`).join(', ')}, given.ordinal
    from made join given using (id)`;
}

async function insertAll(
  db: Db,
  inserts: readonly NoteInsert[],
  lockTimeout?: string,
): Promise<NoteWithRelations[]> {
  const moment = now();
  const rows = inserts.map((insert, ordinal) => givenRow(insert, ordinal, moment));
  const { rows: found } = await db.executeQuery<NoteWithRelations & { ordinal: number }>(
    CompiledQuery.raw(insertion(inserts, lockTimeout), [JSON.stringify(rows)]),
  );
  const inserted: NoteWithRelations[] = [];
  for (const { ordinal, ...note } of found) inserted[ordinal] = note;
  return inserted;
}

const MAX_BATCH_NOTES = 64;

const writes = batchedWrite(MAX_BATCH_NOTES, ({ note }: NoteInsert) => note.body.length, insertAll);

/** Inserts the comment in the caller's transaction. */
export const insertNote = writes.alone;

/** Inserts the comment in its own transaction or in that of a batch. */
export const insertNoteInBatch = writes.together;

/** A statement that inserts system notes, each for itself or in a thread; undefined without any. */
export function insertSystemNotes(
  tx: Db,
  noteable: Noteable,
  author: { id: number },
  notes: readonly { body: string; action: string; createdAt?: Date; discussionId?: string }[],
) {
  if (notes.length === 0) return undefined;
  const time = now();
  const rows = notes.map(({ body, action, createdAt = time, discussionId }) => ({
    ...noteableColumns(noteable),
    author_id: author.id,
    body,
    discussion_id: discussionId ?? newDiscussionId(),
    in_thread: discussionId !== undefined,
    system_action: action,
    created_at: createdAt,
    updated_at: createdAt,
  }));
  return tx.insertInto('notes').values(rows);
}
