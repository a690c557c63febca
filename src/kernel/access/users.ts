/** Finds a user by id or username. Accounts are public; presenters decide what a record shows. */
import type { Sql } from '../../platform/db/driver/sql.ts';
import { forbidden, notFound } from '../../platform/failure.ts';
import type { Actor } from '../actor.ts';
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

/**
 * A service account, where it is asked for a group one that the group made; 404 for other users. 403 for an owner where it is an
 * administrator or auditor: who has its tokens has its rights.
 */
export async function findServiceAccount(
  sql: Sql,
  id: number,
  by?: { actor: Actor; groupId: number },
): Promise<AuthorizedUser> {
  const user = await findUser(sql, id);
  const { kind, provisioned_by_group_id, admin, auditor } = user.row;
  if (kind !== 'service_account' || (by && provisioned_by_group_id !== by.groupId)) throw notFound('User');
  if (by && !by.actor.admin && (admin || auditor)) throw forbidden();
  return user;
}
