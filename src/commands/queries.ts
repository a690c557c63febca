/** What commands ask the database. */
import { sql as raw } from 'kysely';
import type { Db } from '../platform/db/database.ts';
import type { Sql } from '../platform/db/driver/sql.ts';

/** The settings without which a crash loses what was saved. */
export const durable = ['fsync', 'full_page_writes', 'synchronous_commit'] as const;

export type ServerFacts = Record<(typeof durable)[number], string> & {
  version: string;
  number: number;
  trigrams: boolean;
};

export async function readServerFacts(sql: Sql): Promise<ServerFacts | undefined> {
  const [facts] = await sql<ServerFacts[]>`
    select current_setting('server_version') as version, current_setting('server_version_num')::integer as number,
           current_setting('fsync') as fsync, current_setting('full_page_writes') as full_page_writes,
           current_setting('synchronous_commit') as synchronous_commit,
           exists (select from pg_available_extensions where name = 'pg_trgm') as trigrams`;
  return facts;
}

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
