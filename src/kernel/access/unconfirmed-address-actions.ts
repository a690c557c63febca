/** Unconfirmed mail addresses, which do not keep other users from the address. */
import { sql } from 'kysely';
import { ahead, type Db } from '../../platform/db/database.ts';
import { type Announcement, announce } from '../activity/announce-actions.ts';

/**
 * Removes the address from other users who have not confirmed it, before a user adds or confirms it: else a
 * stranger could keep its reader out for good. Of two users with it, the one who confirms it gets it. Primary
 * addresses stay, confirmed or not: accounts depend on them, and their reader can reset such an account's
 * password.
 */
export async function releaseUnconfirmed(
  tx: Db,
  author: Announcement['author'],
  email: string,
  userId = 0,
): Promise<void> {
  // Serialized: of two concurrent requests one would be refused, which reveals that no account has the
  // address.
  await sql`select pg_advisory_xact_lock(hashtextextended(${`address ${email.toLowerCase()}`}, 0))`.execute(
    ahead(tx),
  );
  const { rows } = await sql<{ id: number; username: string; email: string }>`
    delete from emails e using users u
    where u.id = e.user_id and u.id <> ${userId} and e.confirmed_at is null
      and lower(e.email) collate "C" = ${email.toLowerCase()}
      and lower(u.email) collate "C" <> ${email.toLowerCase()}
    returning u.id, u.username, e.email`.execute(tx);
  for (const { id, username, email: from } of rows) {
    const details = { remove: 'email', from };
    const entity = { type: 'User', id, path: username } as const;
    await announce(tx, { author, audit: { entity, event: 'email_destroyed', details } });
  }
}
