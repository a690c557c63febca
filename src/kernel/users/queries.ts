/** Users in the statements of others: the columns of UserBasicRow. */
import { type RawBuilder, sql } from 'kysely';

/** The text of a user's UserBasicRow as JSON, null without one; the column has its id. */
export const userBasicJson = (column: string): string =>
  `(select jsonb_build_object('id', u.id, 'username', u.username, 'name', u.name, 'state', u.state, 'avatar', u.avatar,
    'public_email', u.public_email, 'locked', u.locked_at is not null, 'email', u.email) from users u where u.id = ${column})`;

/** The columns of users `u`. */
export const peopleColumns = sql`u.id, u.username, u.public_email, u.name, u.state, u.locked_at is not null as locked, u.avatar, u.email`;

export const selectPeople = (ids: RawBuilder<unknown>): RawBuilder<unknown> =>
  sql`select ${peopleColumns} from users u where u.id = any(${ids})`;
