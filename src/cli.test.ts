/** The command line as a program: what it prints, how it ends, and that a reader may stop reading. */
import { type SpawnOptions, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
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
  options: { env?: Record<string, string>; deaf?: boolean } = {},
): Promise<{ code: number; out: string; errors: string }> {
  const stdio: SpawnOptions['stdio'] = ['ignore', 'pipe', 'pipe'];
  const env = { PATH: process.env.PATH, ASHLAR_DATA: join(folder, 'data'), ...options.env };
  const child = spawn(process.execPath, [program, ...args], { env, stdio });
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
