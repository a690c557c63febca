/** Unconfirmed mail addresses, which do not keep other users from the address. */
import { sql } from 'kysely';
import { ahead, type Db } from '../../platform/db/database.ts';
import { type Announcement, announce } from '../activity/announce-actions.ts';

/**
 * Removes the address from other users who have not confirmed it, before a user adds or confirms it: else a
 * stranger could keep its reader out for good. Of two users with it, the one who confirms it gets it. Primary
 * addresses stay, confirmed or not: accounts depend on them, and their reader can reset such an account's
 * password. Returns the other user who keeps the address.
 */
export async function releaseUnconfirmed(
  tx: Db,
  author: Announcement['author'],
  email: string,
  userId = 0,
): Promise<number | undefined> {
  // Serialized: of two concurrent requests one would be refused, which reveals that no account has the
  // address.
  await sql`select pg_advisory_xact_lock(hashtextextended(${`address ${email.toLowerCase()}`}, 0))`.execute(
    ahead(tx),
  );
  const { rows } = await sql<{ id: number; username: string; email: string; released: boolean }>`
    with released as (
      delete from emails e using users u
      where u.id = e.user_id and u.id <> ${userId} and e.confirmed_at is null
        and lower(e.email) collate "C" = ${email.toLowerCase()}
        and lower(u.email) collate "C" <> ${email.toLowerCase()}
      returning e.id as email_id, u.id, u.username, e.email)
    select id, username, email, true as released from released
    union all
    select user_id, '', email, false from emails
    where lower(email) collate "C" = ${email.toLowerCase()} and user_id <> ${userId} and not held_elsewhere
      and id not in (select email_id from released)`.execute(tx);
  for (const { id, username, email: from, released } of rows) {
    if (!released) continue;
    const details = { remove: 'email', from };
    const entity = { type: 'User', id, path: username } as const;
    await announce(tx, { author, audit: { entity, event: 'email_destroyed', details } });
  }
  return rows.find(({ released }) => !released)?.id;
}
