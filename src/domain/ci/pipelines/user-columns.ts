/** The user of a row, selected with it. */
import {
  presentUserBasic,
  type Surroundings,
  type UserBasic,
  type UserBasicRow,
} from '../../../kernel/users/records.ts';

/** Columns of `users` that clash with none of a row with a `user_id` and a `name`. */
export const userColumns = [
  'users.username',
  'users.public_email',
  'users.name as user_name',
  'users.state',
  'users.locked_at',
  'users.avatar',
  'users.email',
] as const;

type UserColumns = Omit<UserBasicRow, 'id' | 'name'> & { user_id: number; user_name: string };
/** Without a user, all of them are null. */
type MaybeUserColumns = { [Column in keyof UserColumns]: UserColumns[Column] | null };

export function presentUser(around: Surroundings, row: UserColumns): UserBasic;
export function presentUser(around: Surroundings, row: MaybeUserColumns): UserBasic | null;
export function presentUser(around: Surroundings, row: MaybeUserColumns): UserBasic | null {
  if (row.user_id === null || row.user_name === null) return null;
  // With one column of a user there are all.
  return presentUserBasic(around, { ...(row as UserColumns), id: row.user_id, name: row.user_name });
}
