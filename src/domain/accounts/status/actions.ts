/** Reads and writes a user's status and preferences. */

import { found } from '../../../kernel/api/endpoint.ts';
import { now } from '../../../platform/clock.ts';
import type { Db } from '../../../platform/db/database.ts';
import { presentStatus, type Status } from './status.ts';

export const selectOwn = async (db: Db, id: number) =>
  found(
    await db
      .selectFrom('users')
      .select(['id', 'preferences', 'status', 'status_clears_at'])
      .where('id', '=', id)
      .executeTakeFirst(),
    'User',
  );

export async function saveStatus(db: Db, id: number, status: Status | null, clearsAt: Date | null) {
  const values = { status, status_clears_at: clearsAt };
  await db.updateTable('users').set(values).where('id', '=', id).execute();
  return presentStatus(values, now());
}

/** Changes the preferences that are given; undefined where the user is gone. */
export const changePreferences = (db: Db, id: number, preferences: object) =>
  db
    .updateTable('users')
    .set((eb) => ({ preferences: eb('preferences', '||', { ...preferences }) }))
    .where('id', '=', id)
    .returning(['id', 'preferences'])
    .executeTakeFirst();
