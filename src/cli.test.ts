/** The command line as a program: its output, its exit codes, and a reader that stops early. */
import { type SpawnOptions, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { version } from './package.ts';

const folder = mkdtempSync(join(tmpdir(), 'ashlar-cli-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const program = join(import.meta.dirname, 'cli.ts');

async function ashlar(
  args: string[],
  options: { env?: Record<string, string>; deaf?: boolean; input?: string } = {},
): Promise<{ code: number; out: string; errors: string }> {
  const stdio: SpawnOptions['stdio'] = ['pipe', 'pipe', 'pipe'];
  const env = { PATH: process.env.PATH, ASHLAR_DATA: join(folder, 'data'), ...options.env };
  const limit = { timeout: 60_000, killSignal: 'SIGKILL' } as const;
  const child = spawn(process.execPath, [program, ...args], { env, stdio, ...limit });
  child.stdin?.end(options.input ?? '');
  const said = { out: '', errors: '' };
  if (options.deaf) child.stdout?.destroy();
  else child.stdout?.setEncoding('utf8').on('data', (text: string) => (said.out += text));
  child.stderr?.setEncoding('utf8').on('data', (text: string) => (said.errors += text));
  const [code] = await once(child, 'close');
  return { code, ...said };
}

test('--version prints the version of this package', async () => {
  expect(await ashlar(['--version'])).toEqual({ code: 0, out: `${version.own}\n`, errors: '' });
});

test.each([['doctor'], ['openapi'], ['--help']])(
  'nobody reads what %s prints: it ends in good order',
  async (command) => {
    expect(await ashlar([command], { deaf: true })).toEqual({ code: 0, out: '', errors: '' });
  },
);

test.each([
  ['--port 3000', 'takes no --port: the variable ASHLAR_PORT says it, as in ASHLAR_PORT=3000 ashlar serve'],
  ['-p=3000', 'takes no -p: the variable ASHLAR_PORT says it, as in ASHLAR_PORT=3000 ashlar serve'],
  ['--port', 'takes no --port: the variable ASHLAR_PORT says it, as in ASHLAR_PORT=VALUE ashlar serve'],
  [
    '--bind 0.0.0.0',
    'takes no --bind: the variable ASHLAR_HOST says it, as in ASHLAR_HOST=0.0.0.0 ashlar serve',
  ],
  [
    '--data-dir /srv',
    'takes no --data-dir: the variable ASHLAR_DATA says it, as in ASHLAR_DATA=/srv ashlar serve',
  ],
  ['--tire free', 'takes no --tire: the variable ASHLAR_TIER says it, as in ASHLAR_TIER=free ashlar serve'],
  [
    '--root-password=hunter22',
    'takes no --root-password: the variable ASHLAR_ROOT_PASSWORD says it, as in ASHLAR_ROOT_PASSWORD=… ashlar serve',
  ],
  [
    '--database-url x',
    'takes no --database-url: the variable DATABASE_URL says it, as in DATABASE_URL=… ashlar serve',
  ],
  ['--verbose', 'takes no --verbose: settings come from the environment'],
  ['3000', 'takes no 3000: settings come from the environment'],
])('serve %s says which variable is meant, and starts nothing', async (given, problem) => {
  const data = join(folder, 'untouched');
  const { code, errors } = await ashlar(['serve', ...given.split(' ')], { env: { ASHLAR_DATA: data } });
  expect([code, errors.split('\n')[0], existsSync(data)]).toEqual([2, `ashlar serve: ${problem}`, false]);
});

test.each([
  ['token create --usr root', "ashlar token: Unknown option '--usr'"],
  ['token create --user', "ashlar token: Option '--user <value>' argument missing"],
  ['user password root --generate=x', "ashlar user: Option '--generate' does not take an argument"],
  ['user password root another', 'ashlar user password NAME [--generate]'],
  ['user', 'ashlar user password NAME [--generate]'],
  ['doctor --fix', 'ashlar doctor: takes no --fix'],
])('%s is told what is wrong, above the usage', async (given, problem) => {
  const { code, errors } = await ashlar(given.split(' '));
  expect([code, errors.split('\n')[0]]).toEqual([2, problem]);
  expect(errors).toMatch(/^ashlar (token|user|doctor) ?.*$/m);
});

test('the page that the usage of serve names is there', async () => {
  const { out } = await ashlar(['serve', '--help']);
  const [path = ''] = /\S+settings\.md/.exec(out) ?? [];
  expect(existsSync(path)).toBe(true);
});

test('a data folder below /proc is wrong, and doctor says so', async () => {
  const found = await ashlar(['doctor'], { env: { ASHLAR_DATA: '/proc/ashlar' } });
  expect(found.code).toBe(1);
  expect(found.out).toMatch(/^WRONG +data folder +\/proc\/ashlar: E/);
});

test('a start without its database ends with one line', async () => {
  const env = { DATABASE_URL: 'postgres://nobody:secret@127.0.0.1:1/none' };
  expect(await ashlar(['serve'], { env })).toEqual({
    code: 1,
    out: '',
    errors: 'ashlar: no database listens at 127.0.0.1:1: start it, or correct DATABASE_URL\n',
  });
});

test('a start on a port in use ends with one line', async () => {
  const other = createServer().listen(0, '127.0.0.1');
  await once(other, 'listening');
  const address = other.address();
  const port = typeof address === 'object' ? String(address?.port) : '';
  const { code, errors } = await ashlar(['serve'], { env: { ASHLAR_PORT: port } });
  other.close();
  expect([code, errors]).toEqual([
    1,
    `ashlar: 127.0.0.1:${port} is in use: stop what listens there, or choose another port with ASHLAR_PORT\n`,
  ]);
});

test('a start whose file with the password of root cannot be read ends with one line', async () => {
  const file = join(folder, 'data', 'root-password');
  rmSync(file, { force: true });
  mkdirSync(file, { mode: 0o700 });
  const { code, errors } = await ashlar(['serve'], { env: { ASHLAR_PORT: '0' } });
  expect([code, errors]).toEqual([1, 'ashlar: EISDIR: illegal operation on a directory, read\n']);
});
