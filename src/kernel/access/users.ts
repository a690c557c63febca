/** Finds a user by id or username. Accounts are public; presenters decide what a record shows. */
import type { Selectable } from 'kysely';
import type { Sql } from '../../platform/db/driver/sql.ts';
import type { UsersTable } from '../../platform/db/rows.ts';
import { notFound } from '../../platform/failure.ts';
import type { ObjectReference } from './find-queries.ts';

declare const receipt: unique symbol;

export type UserRow = Selectable<UsersTable>;

/** A user who exists and is not being deleted. Only this module creates one. */
export type AuthorizedUser = { readonly [receipt]: 'user'; readonly id: number; readonly row: UserRow };

const byId = 'select * from users where id = $1 and deletion is null';
const byName = `select * from users where lower(username) collate "C" = $1 and deletion is null`;

/** The user, or undefined. Usernames are case-insensitive. */
export async function selectUser(sql: Sql, reference: ObjectReference): Promise<AuthorizedUser | undefined> {
  const text = String(reference);
  const [row] = /^\d{1,15}$/.test(text)
    ? await sql.unsafe<UserRow[]>(byId, [Number(text)], { prepare: true })
    : await sql.unsafe<UserRow[]>(byName, [text.toLowerCase()], { prepare: true });
  return row && ({ id: row.id, row } as AuthorizedUser);
}

/** The user; 404 when there is none. */
export async function findUser(sql: Sql, reference: ObjectReference): Promise<AuthorizedUser> {
  const user = await selectUser(sql, reference);
  if (!user) throw notFound('User');
  return user;
}
