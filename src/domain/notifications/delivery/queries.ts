/** Statements of deliveries: people, and the projects that a move takes along. */

import { sql } from 'kysely';
import { adminBehindRequests } from '../../../kernel/identity/admin-mode-queries.ts';
import type { Needs } from '../../../kernel/services.ts';
import type { Db } from '../../../platform/db/database.ts';
import type { Person } from '../../conversation/index.ts';

/** Usernames by id, in one statement. */
export async function namesOf(db: Db, ids: readonly number[]): Promise<Map<number, string>> {
  const { rows } = await sql<{ id: number; username: string }>`
    select id, username from users where id = any(${[...ids]}::bigint[])`.execute(db);
  return new Map(rows.map(({ id, username }) => [id, username]));
}

/** The user with the primary mail address. */
export const selectAddressee = (db: Db, id: number) =>
  db.selectFrom('users').select(['name', 'username', 'email']).where('id', '=', id).executeTakeFirstOrThrow();

export async function personOf(
  { database }: Needs<'database'>,
  id: number | undefined,
): Promise<Person | undefined> {
  if (id === undefined) return undefined;
  const row = await database.background
    .selectFrom('users')
    .select(['id', 'username', 'name', 'kind', 'auditor', 'external', adminBehindRequests().as('admin')])
    .where('id', '=', id)
    .executeTakeFirst();
  // The table's check constraint admits the kinds of actors only.
  return row as Person | undefined;
}

export type Inside = { id: number; full_path: string; group_path: string };

/** The projects below a group after an id. */
export async function selectInside(db: Db, groupId: number, after: number, limit: number): Promise<Inside[]> {
  const { rows } = await sql<Inside>`
    select p.id, n.full_path || '/' || p.path as full_path, g.full_path as group_path
    from namespaces g join namespaces n on n.ancestor_ids @> array[g.id] join projects p on p.namespace_id = n.id
    where g.id = ${groupId} and p.id > ${after} and not p.deleting order by p.id limit ${limit}`.execute(db);
  return rows;
}
