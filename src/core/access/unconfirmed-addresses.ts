/** Mail addresses that somebody claims and has not proven to read: they keep nobody else from the address. */
import { sql } from 'kysely';
import type { Db } from '../../platform/db/database.ts';
import { type Announcement, announce } from '../activity/announce.ts';

/**
 * Takes the address from other users who have not confirmed it, before somebody asks for it or proves to read it: else a
 * stranger's claim would keep its reader out for good. Of two who claim it, the one who reads it confirms it and wins.
 * Primary addresses stay, confirmed or not: accounts stand on them, and their reader can set such an account's password.
 */
export async function releaseUnconfirmed(
  tx: Db,
  author: Announcement['author'],
  email: string,
  userId = 0,
): Promise<void> {
  // One at a time: two who claim it at once would find out that no account has it, by the refusal of one of them.
  await sql`select pg_advisory_xact_lock(hashtextextended(${`address ${email.toLowerCase()}`}, 0))`.execute(
    tx,
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
