/** Reads snippets for the payloads of hooks. */
import type { Db } from '../../../platform/db/database.ts';

export const selectSnippetRow = (db: Db, id: number) =>
  db.selectFrom('snippets').selectAll().where('id', '=', id).executeTakeFirst();
