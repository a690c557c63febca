/** What addresses name. */
import { sql } from 'kysely';
import type { Db } from '../../platform/db/database.ts';

/** The id of the user with this name. */
export async function userNamed(db: Db, name: string): Promise<number | undefined> {
  const user = await db
    .selectFrom('users')
    .select('id')
    .where(sql`lower(username) collate "C"`, '=', name.toLowerCase())
    .where('deletion', 'is', null)
    .executeTakeFirst();
  return user?.id;
}

/** The id of the group whose full path is a number. */
export async function groupNumbered(db: Db, path: string): Promise<number | undefined> {
  const group = await db
    .selectFrom('namespaces')
    .select('id')
    .where('kind', '=', 'group')
    .where('full_path', '=', path)
    .executeTakeFirst();
  return group?.id;
}
