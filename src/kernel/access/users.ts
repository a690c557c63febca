/** Finds a user by id or username. Accounts are public; presenters decide what a record shows. */
import type { Sql } from '../../platform/db/driver/sql.ts';
import { notFound } from '../../platform/failure.ts';
import { findUserRow, type ObjectReference, type UserRow } from './find-queries.ts';

declare const receipt: unique symbol;

/** A user who exists and is not being deleted. Only this module creates one. */
export type AuthorizedUser = { readonly [receipt]: 'user'; readonly id: number; readonly row: UserRow };

/** The user, or undefined. Usernames are case-insensitive. */
export async function selectUser(sql: Sql, reference: ObjectReference): Promise<AuthorizedUser | undefined> {
  const row = await findUserRow(sql, reference);
  return row && ({ id: row.id, row } as AuthorizedUser);
}

/** The user; 404 when there is none. */
export async function findUser(sql: Sql, reference: ObjectReference): Promise<AuthorizedUser> {
  const user = await selectUser(sql, reference);
  if (!user) throw notFound('User');
  return user;
}
