/** What commands ask the database. */
import { sql as raw } from 'kysely';
import type { Db } from '../platform/db/database.ts';
import type { Sql } from '../platform/db/driver/sql.ts';

/** The id of the key that the database was started with. */
export async function readSecretKeyId(sql: Sql): Promise<string | undefined> {
  const [fact] = await sql<{ secret_key_id: string }[]>`
    select btrim(value #>> '{}', '"') as secret_key_id from instance_facts where name = 'secret_key_id'`;
  return fact?.secret_key_id;
}

/** The person with this name, whatever the state of the account. */
export const findPerson = (db: Db, username: string) =>
  db
    .selectFrom('users')
    .select(['id', 'username', 'state'])
    .where(raw<boolean>`lower(username) collate "C" = ${username.toLowerCase()}`)
    .where('kind', '=', 'human')
    .where('deletion', 'is', null)
    .executeTakeFirst();
