/**
 * Files in an object store, versitygw: two processes on one database, one folder for what arrives, and a bucket where it
 * comes to rest. What an earlier start kept in the data folder goes there, too.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, expect, test } from 'vitest';
import { openDatabase } from '../../src/platform/db/database.ts';
import { addJobs } from '../../src/platform/jobs/jobs.ts';
import { openRegistry, sha256Of } from '../support/registry.ts';
import { installedGo } from './programs.ts';
import {
  cleanUp,
  freePort,
  makeFolder,
  type Program,
  ROOT_TOKEN,
  startInVain,
  startProgram,
} from './support.ts';

const SECRET = 'a/secret+';
let gateway: ChildProcess | undefined;

async function stopGateway(): Promise<void> {
  gateway?.kill('SIGKILL');
  if (gateway) await once(gateway, 'exit');
  gateway = undefined;
}

afterAll(async () => {
  await stopGateway();
  await cleanUp();
});

async function startGateway(folder: string, port: number): Promise<void> {
  const started = spawn(
    installedGo('versitygw'),
    [
      '--port',
      `127.0.0.1:${port}`,
      '--quiet',
      'posix',
      '--sidecar',
      join(folder, 'attributes'),
      join(folder, 'buckets'),
    ],
    {
      env: { PATH: process.env.PATH, ROOT_ACCESS_KEY: 'key', ROOT_SECRET_KEY: SECRET },
      stdio: 'ignore',
    },
  );
  gateway = started;
  const answers = () =>
    fetch(`http://127.0.0.1:${port}/`).then(
      () => true,
      () => false,
    );
  for (let waited = 0; !(await answers()) && waited < 30_000; waited += 50) await sleep(50);
  expect(started.exitCode).toBeNull();
}

const textOf = (name: string) => `${name}\n`.repeat(1_000);
const nameOf = (name: string) => createHash('sha256').update(textOf(name)).digest('hex');
const fileOf = (name: string) => `/api/v4/projects/root%2Fhouse/packages/generic/stone/1.0/${name}`;
const headers = { 'private-token': ROOT_TOKEN };

async function publish(program: Program, name: string): Promise<void> {
  const sent = await fetch(`${program.url}${fileOf(name)}`, { method: 'PUT', headers, body: textOf(name) });
  expect(sent.status, await sent.text()).toBe(201);
}

async function download(program: Program, name: string, range?: string) {
  const reply = await fetch(`${program.url}${fileOf(name)}`, {
    headers: { ...headers, ...(range !== undefined && { range }) },
  });
  return { status: reply.status, text: await reply.text() };
}

async function whole(program: Program, names: readonly string[]): Promise<void> {
  for (const name of names)
    expect(await download(program, name)).toEqual({ status: 200, text: textOf(name) });
}

test('files move to the object store, whatever dies or does not answer meanwhile', async () => {
  const store = makeFolder();
  const bucket = join(store, 'buckets', 'ashlar');
  for (const folder of [bucket, join(store, 'attributes')]) mkdirSync(folder, { recursive: true });
  const port = await freePort();
  await startGateway(store, port);

  const data = join(makeFolder(), 'data');
  const before = await startProgram({ data });
  await before.root('POST /projects', { name: 'House', path: 'house' });
  await publish(before, 'early');
  await before.stop();

  const files = makeFolder();
  const env = {
    ASHLAR_FILES: files,
    ASHLAR_OBJECT_STORE: `http://key:${encodeURIComponent(SECRET)}@127.0.0.1:${port}/ashlar`,
  };
  const refused = await startInVain(data, env);
  expect([refused.code, refused.output]).toEqual([1, expect.stringContaining(`move them to ${files}`)]);
  cpSync(join(data, 'blobs'), join(files, 'blobs'), { recursive: true });
  for (const folder of ['blobs', 'ci']) rmSync(join(data, folder), { recursive: true, force: true });

  const startFirst = () => startProgram({ data, env });
  let first = await startFirst();
  const password = encodeURIComponent(readFileSync(join(data, 'postgres-password'), 'utf8').trim());
  // Each start has another socket.
  const address = () =>
    `postgres://ashlar:${password}@/postgres?host=${readFileSync(join(data, 'postgres-run'), 'utf8')}`;
  const second = await startProgram({
    env: {
      ...env,
      DATABASE_URL: address(),
      ASHLAR_SECRET_KEY: readFileSync(join(data, 'secret-key'), 'utf8').trim(),
      ASHLAR_STORAGES: `default:${join(data, 'repositories')}`,
    },
  });
  const near = (name: string) => existsSync(join(files, 'blobs', nameOf(name).slice(0, 2), nameOf(name)));
  const far = (name: string) => {
    const folder = join(bucket, nameOf(name).slice(0, 2), nameOf(name));
    return existsSync(folder) && readdirSync(folder).length > 0;
  };
  /** What the schedule does each minute. */
  const move = async () => {
    const database = openDatabase(address());
    await addJobs(database.background, [{ task: 'uploads.move_blobs', payload: {} }]);
    await database.close();
  };
  const rests = async (names: readonly string[]) => {
    await expect
      .poll(() => names.every((name) => far(name) && !near(name)), { timeout: 60_000, interval: 100 })
      .toBe(true);
  };

  // What one process takes, the other one has, before and after it is moved.
  await publish(first, 'stone');
  await whole(second, ['early', 'stone']);
  await move();
  await rests(['early', 'stone']);
  for (const program of [first, second]) await whole(program, ['early', 'stone']);
  expect(await download(second, 'stone', 'bytes=6-10')).toEqual({ status: 206, text: 'stone' });
  const image = 'root/house';
  const credentials = { username: 'root', password: ROOT_TOKEN };
  const upload =
    (await openRegistry(first, credentials).send(`POST ${image}/blobs/uploads/`)).headers.get('location') ??
    '';
  const registry = openRegistry(second, credentials);
  expect((await openRegistry(first, credentials).send(`PATCH ${upload}`, { body: 'gran' })).status).toBe(202);
  const elsewhere = upload.replace(first.url, second.url);
  const ended = await registry.send(`PUT ${elsewhere}?digest=${sha256Of('granite')}`, { body: 'ite' });
  expect(ended.status, ended.text).toBe(201);
  expect((await registry.send(`GET ${image}/blobs/${sha256Of('granite')}`)).text).toBe('granite');

  // Without it, what rests there waits, and what comes is kept.
  await stopGateway();
  const missing = await download(first, 'stone');
  expect(missing).toEqual({ status: 503, text: expect.stringContaining('the object store does not answer') });
  const many = Array.from({ length: 60 }, (_, index) => `slate-${index}`);
  for (const [index, name] of many.entries()) await publish(index % 2 ? first : second, name);
  await move();
  await whole(second, many);
  await startGateway(store, port);

  // It dies while they move.
  await move();
  await expect.poll(() => many.some(far), { timeout: 60_000, interval: 1 }).toBe(true);
  first.kill('SIGKILL');
  second.kill('SIGKILL');
  await Promise.all([first.ended, second.ended]);
  first = await startFirst();
  await whole(first, [...many, 'early', 'stone']);
  await move();
  await rests(many);
  await whole(first, many);

  const removed = await first.root('GET /projects/root%2Fhouse/packages');
  const [{ id }] = (await removed.json()) as [{ id: number }];
  expect((await first.root(`DELETE /projects/root%2Fhouse/packages/${id}`)).status).toBe(204);
  await move();
  await expect.poll(() => ['early', 'stone'].some(far), { timeout: 60_000 }).toBe(false);
  // What was on its way when the program died goes with the sweep of the next night: four at once.
  await expect.poll(() => many.filter(far).length, { timeout: 60_000 }).toBeLessThanOrEqual(4);
  await first.stop();
});
