/** Authors of commits that the API makes for users. */

import type { Actor } from '../../../kernel/actor.ts';
import type { Db } from '../../../platform/db/database.ts';
import type { Person } from './commits.ts';

/** The actor's name and commit address. */
export async function authorOf(db: Db, actor: Pick<Actor, 'id' | 'name'>): Promise<Person> {
  const row = await db
    .selectFrom('users')
    .select(['name', 'email', 'commit_email'])
    .where('id', '=', actor.id)
    .executeTakeFirst();
  return { name: row?.name ?? actor.name, email: row?.commit_email || row?.email || '' };
}
