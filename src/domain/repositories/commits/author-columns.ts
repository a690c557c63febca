/** The author of a row, selected with it. */
import {
  presentUserBasic,
  type Surroundings,
  type UserBasic,
  type UserBasicRow,
} from '../../../kernel/users/records.ts';

/** Columns of `users` that clash with none of a row with an author. */
export const authorColumns = [
  'users.username',
  'users.public_email',
  'users.name as author_name',
  'users.state',
  'users.locked_at',
  'users.avatar',
  'users.email',
] as const;

export type AuthoredRow = Omit<UserBasicRow, 'id' | 'name'> & { author_id: number; author_name: string };

export const presentAuthor = (around: Surroundings, row: AuthoredRow): UserBasic =>
  presentUserBasic(around, { ...row, id: row.author_id, name: row.author_name });
