/** Users in the rows of other statements. */

/** The text of a user's UserBasicRow as JSON, null without one; the column has its id. */
export const userBasicJson = (column: string): string =>
  `(select jsonb_build_object('id', u.id, 'username', u.username, 'name', u.name, 'state', u.state, 'avatar', u.avatar,
    'public_email', u.public_email, 'locked', u.locked_at is not null, 'email', u.email) from users u where u.id = ${column})`;
