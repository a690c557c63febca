/** Reads users for the payloads of hooks. */
import type { Db } from '../../platform/db/database.ts';

export const toldUserColumns = ['id', 'name', 'email', 'username', 'created_at', 'updated_at'] as const;

export const selectToldUser = (db: Db, id: number) =>
  db.selectFrom('users').select(toldUserColumns).where('id', '=', id).executeTakeFirst();
