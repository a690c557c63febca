/** kill -9 at every step of an upload: what was acknowledged is served, nothing else is, and the sweep removes the rest. */
import { createHash, randomBytes } from 'node:crypto';
import { readdirSync, utimesSync } from 'node:fs';
import { request as httpRequest } from 'node:http';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, expect, test } from 'vitest';
import { connect } from '../../src/platform/db/database.ts';
import { reachEmbedded } from '../../src/platform/db/embedded/embedded.ts';
import { askToken } from '../support/registry.ts';
import { cleanUp, makeFolder, type Program, ROOT_TOKEN, startProgram } from './support.ts';

afterAll(() => cleanUp());

const credentials = { username: 'root', password: ROOT_TOKEN };
const basic = { authorization: `Basic ${Buffer.from(`root:${ROOT_TOKEN}`).toString('base64')}` };
const sha256 = (content: Buffer): string => createHash('sha256').update(content).digest('hex');
const SIZE = 3_000_000;
const DAYS = 2 * 86_400_000;

/** One way in which bytes come: how they are sent and fetched, and the table whose row names them. */
type Way = {
  table: string;
  send(program: Program, content: Buffer): Promise<{ path: string; method: string; headers: object }>;
  fetch(program: Program, content: Buffer): Promise<Response>;
};

const bearer = async (program: Program) => ({
  authorization: `Bearer ${(await askToken(program, credentials, ['repository:root/house:pull,push'])).token}`,
});

const ways: Record<string, Way> = {
  'a file of a package': {
    table: 'package_files',
    send: async (_program, content) => ({
      path: `/api/v4/projects/1/packages/generic/stone/1.0/${sha256(content)}`,
      method: 'PUT',
      headers: basic,
    }),
    fetch: (program, content) =>
      fetch(`${program.url}/api/v4/projects/1/packages/generic/stone/1.0/${sha256(content)}`, {
        headers: basic,
      }),
  },
  'a large file': {
    table: 'lfs_objects',
    send: async (_program, content) => ({
      path: `/root/house.git/lfs/objects/${sha256(content)}/${content.length}`,
      method: 'PUT',
      headers: basic,
    }),
    fetch: (program, content) =>
      fetch(`${program.url}/root/house.git/lfs/objects/${sha256(content)}`, { headers: basic }),
  },
  'the last chunk of an image': {
    table: 'container_blobs',
    async send(program, content) {
      const headers = await bearer(program);
      const begun = await fetch(`${program.url}/v2/root/house/blobs/uploads/`, { method: 'POST', headers });
      const at = new URL(begun.headers.get('location') ?? '', program.url);
      // The first chunk is acknowledged.
      const first = await fetch(at, {
        method: 'PATCH',
        headers,
        body: new Uint8Array(content.subarray(0, 1_000)),
      });
      expect(first.status).toBe(202);
      const next = new URL(first.headers.get('location') ?? '', program.url);
      next.searchParams.set('digest', `sha256:${sha256(content)}`);
      return { path: `${next.pathname}${next.search}`, method: 'PUT', headers };
    },
    fetch: async (program, content) =>
      fetch(`${program.url}/v2/root/house/blobs/sha256:${sha256(content)}`, {
        headers: await bearer(program),
      }),
  },
};

const until = async (isSo: () => boolean | Promise<boolean>, what: string): Promise<void> => {
  for (let waited = 0; !(await isSo()); waited += 20) {
    if (waited > 20_000) throw new Error(`no ${what}`);
    await sleep(20);
  }
};

const folderOf = (data: string, content: Buffer) => join(data, 'blobs', sha256(content).slice(0, 2));
const namesIn = (folder: string): string[] => {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
};
const draftsOf = (data: string) => namesIn(join(data, 'blobs', 'drafts'));
const isPlaced = (data: string, content: Buffer) =>
  namesIn(folderOf(data, content)).includes(sha256(content));

const open = async (data: string) => {
  const target = await reachEmbedded(data);
  if (!target) throw new Error('the database cannot be reached');
  return connect(target, { max: 1, statementTimeout: 0, name: 'tests' });
};

/** The steps of an upload at which the program dies, each with what is there by then. */
const steps = [
  'while bytes arrive',
  'before it has its name',
  'before its row',
  'when it is acknowledged',
] as const;

async function dieAt(
  step: (typeof steps)[number],
  way: Way,
  program: Program,
  content: Buffer,
): Promise<void> {
  const { data } = program;
  const drafts = new Set(draftsOf(data));
  const { path, method, headers } = await way.send(program, content);
  const rest = way.table === 'container_blobs' ? content.subarray(1_000) : content;
  const sql = await open(data);
  const connection = await sql.reserve();
  await connection`begin`;
  // The upload waits there for the lock.
  if (step === 'before it has its name') await connection`lock table blobs in exclusive mode`;
  if (step === 'before its row') await connection.unsafe(`lock table ${way.table} in exclusive mode`);
  const sending = httpRequest(`${program.url}${path}`, {
    method,
    headers: { ...headers, 'content-type': 'application/octet-stream', 'content-length': rest.length },
  });
  const answered = new Promise<number | undefined>((resolve) => {
    sending.on('response', (response) => {
      response.resume();
      resolve(response.statusCode);
    });
    sending.on('error', () => resolve(undefined));
  });
  const isWaiting = async () => {
    const watching = await open(data);
    try {
      const rows = await watching`select from pg_locks where not granted`;
      return rows.length > 0;
    } finally {
      await watching.end({ timeout: 0 });
    }
  };
  if (step === 'while bytes arrive') {
    sending.write(rest.subarray(0, 1_000_000));
    await until(() => draftsOf(data).some((name) => !drafts.has(name)), 'draft');
  } else sending.end(rest);
  if (step === 'before it has its name' || step === 'before its row')
    await until(isWaiting, 'statement that waits');
  if (step === 'before its row') expect(isPlaced(data, content)).toBe(true);
  if (step === 'when it is acknowledged') expect(await answered).toBeLessThan(300);
  program.kill('SIGKILL');
  await program.ended;
  sending.destroy();
  await answered;
  await sql.end({ timeout: 0 }).catch(() => {});
}

test.each(Object.entries(ways))('%s', async (_name, way) => {
  const data = join(makeFolder(), 'data');
  let program = await startProgram({ data });
  expect((await program.root('POST /projects', { name: 'House', path: 'house' })).status).toBe(201);
  const contents = steps.map(() => randomBytes(SIZE));
  for (const [at, step] of steps.entries()) {
    const content = contents[at] ?? Buffer.alloc(0);
    await dieAt(step, way, program, content);
    program = await startProgram({ data });
    const reply = await way.fetch(program, content);
    if (step === 'when it is acknowledged')
      expect(sha256(Buffer.from(await reply.arrayBuffer()))).toBe(sha256(content));
    else expect([step, reply.status]).toEqual([step, 404]);
  }
  // What is left is older than a day, by then.
  const past = new Date(Date.now() - DAYS);
  const left = [
    ...draftsOf(data).map((name) => join(data, 'blobs', 'drafts', name)),
    ...contents
      .filter((content) => isPlaced(data, content))
      .map((content) => join(folderOf(data, content), sha256(content))),
  ];
  for (const path of left) utimesSync(path, past, past);
  const sql = await open(data);
  await sql`update container_uploads set created_at = ${past}`;
  await sql`select graphile_worker.add_job('uploads.sweep_blobs')`;
  await until(() => draftsOf(data).length === 0, 'sweep of drafts');
  const kept = () => contents.map((content) => isPlaced(data, content));
  await until(() => kept().filter(Boolean).length === 1, 'sweep of files without rows');
  expect(kept()).toEqual([false, false, false, true]);
  await sql.end({ timeout: 0 });
  // What was cut off is brought again.
  for (const content of contents) {
    const { path, method, headers } = await way.send(program, content);
    const rest = way.table === 'container_blobs' ? content.subarray(1_000) : content;
    const sent = await fetch(`${program.url}${path}`, {
      method,
      headers: { ...headers, 'content-type': 'application/octet-stream' },
      body: new Uint8Array(rest),
    });
    expect(sent.status).toBeLessThan(300);
    const bytes = Buffer.from(await (await way.fetch(program, content)).arrayBuffer());
    expect(sha256(bytes)).toBe(sha256(content));
  }
  expect(await program.stop(), program.output()).toEqual({ code: 0, signal: null });
});
