/** Reads users for the payloads of hooks. */
import type { Db } from '../../platform/db/database.ts';

export const userSnapshotColumns = ['id', 'name', 'email', 'username', 'created_at', 'updated_at'] as const;

export const selectUserSnapshot = (db: Db, id: number) =>
  db.selectFrom('users').select(userSnapshotColumns).where('id', '=', id).executeTakeFirst();
