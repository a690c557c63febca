/** Reads comments for the payloads of hooks. */
import type { Selectable } from 'kysely';
import type { Db } from '../../../platform/db/database.ts';
import type { NotesTable } from '../../../platform/db/rows.ts';

export type HookNoteRow = Selectable<NotesTable>;

export const selectHookNote = (db: Db, id: number): Promise<HookNoteRow | undefined> =>
  db.selectFrom('notes').selectAll().where('id', '=', id).executeTakeFirst();

/** The newest comment of the project that hooks of this kind would be told of. */
export const selectNewestNote = (
  db: Db,
  projectId: number,
  isInternal: boolean,
): Promise<HookNoteRow | undefined> =>
  db
    .selectFrom('notes')
    .selectAll()
    .where('project_id', '=', projectId)
    .where('system_action', 'is', null)
    .where('alert_id', 'is', null)
    .where('internal', '=', isInternal)
    .orderBy('id', 'desc')
    .executeTakeFirst();
