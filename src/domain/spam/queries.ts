/** What a check for spam asks the database. */
import type { Db } from '../../platform/db/database.ts';

export const selectEmail = (db: Db, userId: number): Promise<{ email: string }> =>
  db.selectFrom('users').select('email').where('id', '=', userId).executeTakeFirstOrThrow();
