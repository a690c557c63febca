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

export type RowWithUser = Omit<UserBasicRow, 'id' | 'name'> & { user_id: number; user_name: string };

export const presentUser = (around: Surroundings, row: RowWithUser): UserBasic =>
  presentUserBasic(around, { ...row, id: row.user_id, name: row.user_name });
