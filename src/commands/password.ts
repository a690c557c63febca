/** ashlar user password: another password for a user, for whoever has the machine. */
import { createInterface } from 'node:readline';
import { Writable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { sql } from 'kysely';
import { reachDatabase } from '../instance.ts';
import { announce } from '../kernel/activity/announce.ts';
import type { Config } from '../kernel/config.ts';
import { userEntity } from '../kernel/identity/passwords/login-actions.ts';
import { noReset } from '../kernel/identity/passwords/reset-actions.ts';
import { passwordProblems } from '../kernel/identity/passwords/rules.ts';
import { endAccess } from '../kernel/identity/session-actions.ts';
import { createSettingsSource } from '../kernel/settings/settings.ts';
import { now } from '../platform/clock.ts';
import { inTransaction, openDatabase } from '../platform/db/database.ts';
import { hashPassword } from '../platform/secret.ts';

/**
 * Sets the password, as a link sent by mail would: all sessions and grants of the user end, and a locked account is open
 * again. Returns the state of the account. Throws for an unknown user or a password that the settings refuse.
 */
export async function setPasswordFromCommandLine(
  config: Config,
  username: string,
  readPassword: () => Promise<string>,
): Promise<string> {
  const reached = await reachDatabase(config);
  const database = openDatabase(reached.target, { requests: 1, background: 1 });
  const { db } = database;
  try {
    const user = await db
      .selectFrom('users')
      .select(['id', 'username', 'state'])
      .where(sql<boolean>`lower(username) collate "C" = ${username.toLowerCase()}`)
      .where('kind', '=', 'human')
      .where('deletion', 'is', null)
      .executeTakeFirst();
    if (!user) throw new Error(`no user '${username}'`);
    const password = await readPassword();
    const problems = passwordProblems(password, await createSettingsSource(database.sql).read());
    if (problems.length > 0) throw new Error(`the password ${problems.join(', ')}`);
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
    return user.state;
  } finally {
    await database.close();
    await reached.close();
  }
}

/** A password from a person at a terminal, unseen and twice, or else the line that standard input consists of. */
export async function readNewPassword(username: string): Promise<string> {
  if (!process.stdin.isTTY) return (await text(process.stdin)).replace(/\r?\n$/, '');
  const unseen = new Writable({ write: (_chunk, _encoding, done) => done() });
  const lines = createInterface({ input: process.stdin, output: unseen, terminal: true });
  lines.on('SIGINT', () => lines.close());
  const typed = lines[Symbol.asyncIterator]();
  const ask = async (request: string): Promise<string> => {
    process.stderr.write(request);
    const { value, done } = await typed.next();
    process.stderr.write('\n');
    if (done) throw new Error('no password was given: nothing is changed');
    return value;
  };
  try {
    const password = await ask(`New password of ${username}: `);
    if ((await ask('The same again: ')) !== password) throw new Error('the two passwords are not the same');
    return password;
  } finally {
    lines.close();
  }
}
