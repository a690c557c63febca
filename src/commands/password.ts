/** ashlar user password: another password for a user, for whoever has the machine. */
import { createInterface } from 'node:readline';
import { Writable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { reachDatabase } from '../instance.ts';
import type { Config } from '../kernel/config.ts';
import { passwordProblems } from '../kernel/identity/passwords/rules.ts';
import { createSettingsSource } from '../kernel/settings/settings.ts';
import { openDatabase } from '../platform/db/database.ts';
import { setPassword } from './actions.ts';
import { findPerson } from './queries.ts';

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
    const user = await findPerson(db, username);
    if (!user) throw new Error(`no user '${username}'`);
    const password = await readPassword();
    const problems = passwordProblems(password, await createSettingsSource(database.sql).read());
    if (problems.length > 0) throw new Error(`the password ${problems.join(', ')}`);
    await setPassword(db, user, password);
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
