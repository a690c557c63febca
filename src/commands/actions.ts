/** What commands write. */
import { announce } from '../kernel/activity/announce-actions.ts';
import { userEntity } from '../kernel/identity/passwords/login-actions.ts';
import { noReset } from '../kernel/identity/passwords/reset-actions.ts';
import { endAccess } from '../kernel/identity/session-actions.ts';
import { now } from '../platform/clock.ts';
import { type Db, inTransaction } from '../platform/db/database.ts';
import type { Sql } from '../platform/db/driver/sql.ts';
import { digest, hashPassword } from '../platform/secret.ts';

/** Sets the password: all sessions and grants of the user end, and a locked account is open again. */
export async function setPassword(
  db: Db,
  user: { id: number; username: string },
  password: string,
): Promise<void> {
  const password_hash = await hashPassword(password);
  await inTransaction(db, async (tx) => {
    await tx
      .updateTable('users')
      .set({
        ...{ password_hash, password_changed_at: now(), failed_attempts: 0, locked_at: null },
        ...{ ...noReset, updated_at: now() },
      })
      .where('id', '=', user.id)
      .execute();
    await endAccess(tx, user.id);
    await announce(tx, {
      audit: { entity: userEntity(user), event: 'user_password_updated' },
    });
  });
}

const DAY_MS = 86_400_000;

/** Inserts a personal token of an active user; false where there is none of this name. */
export async function insertToken(
  sql: Sql,
  token: string,
  { user, name, scopes, days }: { user: string; name: string; scopes: string[]; days: number },
): Promise<boolean> {
  const time = now();
  const made = await sql`
    insert into access_tokens (kind, digest, user_id, name, scopes, expires_at, created_at, updated_at)
    select 'personal', ${digest(token)}, id, ${name}, ${scopes}, ${new Date(time.getTime() + days * DAY_MS)},
           ${time}, ${time}
    from users where lower(username) collate "C" = ${user.toLowerCase()} and state = 'active'
    returning id`;
  return made.length > 0;
}
