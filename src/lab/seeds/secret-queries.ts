/** What of secrets is kept, and the API tells nobody. */
import { sql } from 'kysely';
import type { Db } from '../../platform/db/database.ts';
import { digestOf, type GivenSecret } from './secret-actions.ts';

export async function passwordHashOf(db: Db, userId: number): Promise<string | null> {
  const user = await db
    .selectFrom('users')
    .select('password_hash')
    .where('id', '=', userId)
    .executeTakeFirst();
  return user?.password_hash ?? null;
}

export type KnownToken = { id: number; name: string; user_id: number | null; project_id: number | null };

/** The token with this value. */
export const tokenWithDigest = (db: Db, secret: GivenSecret): Promise<KnownToken | undefined> =>
  db
    .selectFrom('access_tokens')
    .select(['id', 'name', 'user_id', 'project_id'])
    .where('digest', '=', digestOf(secret))
    .executeTakeFirst();

/** Digests of tokens as hexadecimal digits, by id. */
export async function tokenDigests(db: Db, ids: readonly number[]): Promise<Map<number, string>> {
  const rows = await db
    .selectFrom('access_tokens')
    .select(['id', sql<string>`encode(digest, 'hex')`.as('sha256')])
    .where('id', 'in', [...ids, 0])
    .execute();
  return new Map(rows.map(({ id, sha256 }) => [id, sha256]));
}

/** Applications of the instance: what the API leaves out. */
export const applicationDetails = (db: Db) =>
  db
    .selectFrom('oauth_applications')
    .select(['id', 'scopes', 'dynamic', sql<string | null>`encode(secret_digest, 'hex')`.as('sha256')])
    .where('user_id', 'is', null)
    .where('namespace_id', 'is', null)
    .execute();
