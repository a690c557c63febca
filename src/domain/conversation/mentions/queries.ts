/** Users whom texts name, alone or as members. */
import { type RawBuilder, sql } from 'kysely';
import { type ActorColumns, actorColumns } from '../../../kernel/actor.ts';
import {
  actorColumnsBehindRequests,
  adminBehindRequests,
} from '../../../kernel/identity/admin-mode-queries.ts';
import { now } from '../../../platform/clock.ts';
import type { Db } from '../../../platform/db/database.ts';

export type Person = ActorColumns;

/** Active users by lowercase username. */
export async function usersByName(db: Db, names: readonly string[]): Promise<Person[]> {
  if (names.length === 0) return [];
  const rows = await db
    .selectFrom('users')
    .select(actorColumnsBehindRequests())
    .where(sql<string>`lower(username) collate "C"`, 'in', [...names])
    .where('deletion', 'is', null)
    .where('state', '=', 'active')
    .execute();
  // The table's check constraint admits these kinds only.
  return rows as Person[];
}

/** Active users by id, with the rights that they have behind the requests. */
export async function usersByIds(db: Db, ids: readonly number[], adminMode = false): Promise<Person[]> {
  if (ids.length === 0) return [];
  const rows = await db
    .selectFrom('users')
    .select(actorColumnsBehindRequests(adminMode))
    .where('id', 'in', [...ids])
    .where('deletion', 'is', null)
    .where('state', '=', 'active')
    .execute();
  // As above.
  return rows as Person[];
}

const current = (alias: string): RawBuilder<boolean> =>
  sql`(${sql.ref(`${alias}.expires_at`)} is null or ${sql.ref(`${alias}.expires_at`)} > ${now().toISOString().slice(0, 10)}::date)`;

/** Ids of the members of the group itself. */
export const membersOfGroup = (id: number): RawBuilder<unknown> =>
  sql`select m.user_id from members m where m.namespace_id = ${id} and ${current('m')}`;

/** The active users among these ids, a list or statement. */
export async function activeUsers(db: Db, ids: RawBuilder<unknown>, limit: number): Promise<Person[]> {
  const { rows } = await sql<Person>`
    select ${sql.raw(actorColumns.filter((column) => column !== 'admin').join(', '))}, ${adminBehindRequests()} as admin from users
    where id in (${ids}) and deletion is null and state = 'active' order by id limit ${limit}`.execute(db);
  return rows;
}
