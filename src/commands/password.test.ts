/** ashlar user password and its neighbours, beside a running server on one database: what they change, and what they refuse. */
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { SECRET_KEY, useApp } from '../../test/support/app.ts';
import { openBrowser, signInAs, withSettings } from '../../test/support/browser.ts';
import { auditEventsOf, createUser } from '../../test/support/factories.ts';
import { ashlar, removeProgram } from '../../test/support/program.ts';

const app = useApp();
let folder = '';
let env: Record<string, string> = {};
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'ashlar-commands-'));
  const { target } = app.app.services.database;
  if (typeof target === 'string') throw new Error('the tests connect by options');
  const login = `${target.user}:${encodeURIComponent(target.password)}`;
  env = {
    DATABASE_URL: `postgres://${login}@/${target.database}?host=${target.host}&port=${target.port ?? 5432}`,
    ASHLAR_DATA: join(folder, 'none'),
  };
});
afterAll(() => {
  rmSync(folder, { recursive: true, force: true });
  removeProgram();
});

const command = (given: string, input?: string) => ashlar(given.split(' '), env, input);

async function signsIn(username: string, password: string): Promise<boolean> {
  const browser = openBrowser(app);
  await signInAs(browser, username, password);
  return browser.cookies.size > 0;
}

test('another password counts at once, and ends every session and grant; tokens stay', async () => {
  const password = 'the first of all';
  const user = await createUser(app, { password });
  const other = await createUser(app, { password });
  const browser = openBrowser(app);
  await signInAs(browser, user.username, password);
  expect((await browser.get('/-/profile/password')).status).toBe(200);
  const grant = await app.call('POST /oauth/token', {
    raw: true,
    form: new URLSearchParams({ grant_type: 'password', username: user.username, password }).toString(),
  });
  const bearer = { authorization: `Bearer ${grant.body.access_token}` };
  expect((await app.call('GET /user', { headers: bearer })).status).toBe(200);

  expect(await command(`user password ${user.username.toUpperCase()}`, 'the second of all\n')).toMatchObject({
    code: 0,
    out: '',
    errors: expect.stringContaining('has a new password'),
  });
  expect((await browser.get('/-/profile/password')).location).toContain('/users/sign_in');
  expect((await app.call('GET /user', { headers: bearer })).status).toBe(401);
  expect((await app.as(user.token)('GET /user')).status).toBe(200);
  expect(await signsIn(user.username, password)).toBe(false);
  expect(await signsIn(user.username, 'the second of all')).toBe(true);
  expect(await signsIn(other.username, password)).toBe(true);
  expect(await auditEventsOf(app, user.id)).toContain('user_password_updated');
});

test('--generate prints one that works, and nothing else on standard output', async () => {
  const user = await createUser(app, { password: 'the first of all' });
  const { code, out } = await command(`user password ${user.username} --generate`);
  expect([code, out]).toEqual([0, expect.stringMatching(/^[\w-]{24}\n$/)]);
  expect(await signsIn(user.username, out.trim())).toBe(true);
});

test('an account that was locked is open again, one that is blocked stays so, and both are told', async () => {
  const { username, id } = await createUser(app, { password: 'the first of all' });
  const { sql } = app.app.services.database;
  await sql`update users set failed_attempts = 10, locked_at = now() where id = ${id}`;
  expect((await command(`user password ${username}`, 'the second of all')).errors).not.toContain('stays');
  expect(await signsIn(username, 'the second of all')).toBe(true);
  await app.root(`POST /users/${id}/block`);
  expect((await command(`user password ${username}`, 'the third of all')).errors).toContain('stays blocked');
  expect(await signsIn(username, 'the third of all')).toBe(false);
});

test('what the settings refuse, an unknown user and one that is no person change nothing', async () => {
  const password = 'the first of all';
  const user = await createUser(app, { password });
  await app.app.services.database.sql`update users set kind = 'alert_bot' where id = ${user.id}`;
  const bot = await command(`user password ${user.username}`, 'the second of all');
  expect([bot.code, bot.errors]).toEqual([1, `ashlar: no user '${user.username}'\n`]);
  await app.app.services.database.sql`update users set kind = 'human' where id = ${user.id}`;
  expect((await command('user password nobody-here', 'the second of all')).errors).toBe(
    "ashlar: no user 'nobody-here'\n",
  );
  await withSettings(app, { password_number_required: true }, async () => {
    for (const [given, problem] of [
      ['1234567\n', 'is too short (minimum is 8 characters)'],
      ['without digits', 'must contain at least one number'],
    ]) {
      const { code, errors } = await command(`user password ${user.username}`, given);
      expect([code, errors]).toEqual([1, expect.stringContaining(`ashlar: the password ${problem}`)]);
    }
  });
  expect(await signsIn(user.username, password)).toBe(true);
});

test('a token is made beside the server, and no command leaves a data folder behind', async () => {
  const { code, out } = await command('token create --user root --scopes read_user');
  expect(code).toBe(0);
  expect((await app.as(out.trim())('GET /user')).body.username).toBe('root');
  expect((await command('token create --user nobody-here')).errors).toBe(
    "ashlar: no active user 'nobody-here'\n",
  );
  expect(readdirSync(folder)).toEqual([]);
});

test('a key is rotated with the secret key of the server, and with no other', async () => {
  const missing = await command('oauth rotate-key');
  expect([missing.code, missing.errors]).toEqual([
    1,
    expect.stringContaining(`${join(env.ASHLAR_DATA ?? '', 'secret-key')} is missing`),
  ]);
  const wrong = await ashlar(['oauth', 'rotate-key'], { ...env, ASHLAR_SECRET_KEY: 'x'.repeat(32) });
  expect(wrong.errors).toContain('ASHLAR_SECRET_KEY is not the key that this database was started with');
  const right = await ashlar(['oauth', 'rotate-key'], { ...env, ASHLAR_SECRET_KEY: SECRET_KEY });
  const keys = await app.call('GET /oauth/discovery/keys', { raw: true });
  expect(keys.body.keys.map(({ kid }: { kid: string }) => kid)).toContain(right.out.trim());
  expect(readdirSync(folder)).toEqual([]);
});

test('a database of another version is left as it is, and the way out is told', async () => {
  const { sql } = app.app.services.database;
  const [lately] =
    await sql`delete from migrations where name = (select max(name) from migrations) returning *`;
  const older = await command('user password root', 'a password for nothing');
  expect([older.code, older.errors]).toEqual([
    1,
    expect.stringMatching(
      /^ashlar: the database is older than this program.*start this version of the server/,
    ),
  ]);
  await sql`insert into migrations
    select * from jsonb_populate_record(null::migrations, ${sql.json(lately)})`;
  await sql`insert into migrations (name, digest) values ('9999_of_tomorrow', '')`;
  const newer = await command('token create --user root');
  expect([newer.code, newer.errors]).toEqual([
    1,
    expect.stringMatching(/newer than this program, which does not know 9999_of_tomorrow: start the version/),
  ]);
  const start = await command('migrate');
  expect([start.code, start.errors]).toEqual([1, newer.errors]);
  await sql`delete from migrations where name = '9999_of_tomorrow'`;
  const url = String(env.DATABASE_URL).replace(/\/test_\w+/, '/no_such_database');
  const none = await ashlar(['token', 'create', '--user', 'root'], { ...env, DATABASE_URL: url });
  expect(none.errors).toBe(
    'ashlar: database "no_such_database" does not exist: make it, or correct DATABASE_URL\n',
  );
});
