/**
 * A full disk under the data folder: writes are refused with 503, reads go on, readiness gives the reason;
 * with free space it heals.
 */
import { spawnSync } from 'node:child_process';
import { closeSync, openSync, readdirSync, rmSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { cleanUp, makeFolder, type Program, ROOT_TOKEN, startProgram } from './support.ts';

const MEBIBYTE = 1_048_576;
/** The program checks its disk each second. */
const LOOKED = { timeout: 10_000 };
let disk: string;

beforeAll(() => {
  disk = makeFolder();
  const { status, stderr, error } = spawnSync(
    'mount',
    ['-t', 'tmpfs', '-o', 'size=384m,mode=755', 'tmpfs', disk],
    {
      encoding: 'utf8',
    },
  );
  if (status === 0) return;
  throw new Error(
    `this journey mounts a small tmpfs: it needs root (CAP_SYS_ADMIN) and the program mount (Debian package mount): ${error?.message ?? stderr}`,
  );
});

afterAll(() => cleanUp(() => spawnSync('umount', [disk])));

/** Writes until nothing more fits; returns the undo. */
function fill(): () => void {
  const path = join(disk, 'filler');
  const file = openSync(path, 'w');
  // Ever smaller pieces, so that not one byte is left.
  for (let size = MEBIBYTE; size >= 1; size = Math.floor(size / 16)) {
    const piece = Buffer.alloc(size);
    try {
      for (let written = 0; written < 10_000; written++) writeSync(file, piece);
    } catch (error) {
      expect((error as NodeJS.ErrnoException).code).toBe('ENOSPC');
    }
  }
  closeSync(file);
  return () => rmSync(path);
}

const logFiles = () => readdirSync(join(disk, 'data', 'postgres', 'pg_wal'));

/** What arrives and has no name yet. */
const drafts = () => readdirSync(join(disk, 'data', 'blobs', 'drafts'));

const readiness = async (program: Program) => {
  const response = await fetch(`${program.url}/-/readiness`);
  return { status: response.status, body: await response.text() };
};

test('writes are refused and reads go on while the disk is full, and all works again when it is not', async () => {
  const program = await startProgram({ data: join(disk, 'data') });
  const kept: string[] = [];
  const write = async (name: string): Promise<number> => {
    const response = await program.root('POST /projects', { name, path: name });
    await response.text();
    if (response.status === 201) kept.push(name);
    return response.status;
  };
  expect(await write('before')).toBe(201);
  expect((await readiness(program)).status).toBe(200);
  const address = (name: string) =>
    `${program.url}/api/v4/projects/root%2Fbefore/packages/generic/stone/1.0/${name}`;
  const headers = { 'private-token': ROOT_TOKEN };
  const publish = (name: string, body: string | Uint8Array | AsyncIterable<Uint8Array>) =>
    fetch(address(name), { method: 'PUT', headers, body, duplex: 'half' } as RequestInit);
  expect((await publish('early', 'granite')).status).toBe(201);
  // Without it the database stops where the log's file ends while the disk is full.
  await expect.poll(() => logFiles(), LOOKED).toContain('000000010000000000000004');

  // Others write while it fills up: unstored writes are refused, and nothing fails in another way.
  let filling = true;
  const writers = Array.from({ length: 4 }, async (_, number) => {
    const statuses = new Set<number>();
    for (let written = 0; filling && written < 10_000; written++)
      statuses.add(await write(`w${number}-${written}`));
    return statuses;
  });
  const half = new Uint8Array(4 * MEBIBYTE);
  const filled = Promise.withResolvers<void>();
  const uploading = publish(
    'half',
    (async function* () {
      yield half;
      await filled.promise;
      for (let sent = 0; sent < 16; sent++) yield half;
    })(),
  ).then(
    ({ status }) => status,
    // The refusal may come while it sends.
    () => 503,
  );
  await expect.poll(() => drafts().length, LOOKED).toBe(1);
  const free = fill();
  filled.resolve();
  expect(await uploading).toBe(503);
  await expect
    .poll(() => readiness(program), LOOKED)
    .toEqual({ status: 503, body: expect.stringContaining('no space left') });
  filling = false;
  for (const statuses of await Promise.all(writers))
    expect([201, 503]).toEqual(expect.arrayContaining([...statuses]));

  for (let round = 0; round < 10; round++) {
    const refused = await program.root('POST /projects', { name: 'refused', path: 'refused' });
    expect(refused.status).toBe(503);
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0);
    expect(await refused.json()).toEqual({ message: expect.stringContaining('no space left') });
    expect((await program.root('PUT /projects/root%2Fbefore', { description: 'x' })).status).toBe(503);
    expect((await program.root('DELETE /projects/root%2Fbefore')).status).toBe(503);
    expect((await program.root('GET /projects/root%2Fbefore')).status).toBe(200);
    expect((await program.root('GET /projects')).status).toBe(200);
    expect((await publish('refused', 'slate')).status).toBe(503);
    expect(await (await fetch(address('early'), { headers })).text()).toBe('granite');
    expect((await program.root('GET /user')).status).toBe(200);
    expect((await fetch(`${program.url}/-/liveness`)).status).toBe(200);
  }

  free();
  await expect.poll(() => readiness(program), LOOKED).toEqual({ status: 200, body: expect.any(String) });
  expect(await write('after')).toBe(201);
  expect(drafts()).toEqual([]);
  for (const name of ['half', 'refused']) expect((await fetch(address(name), { headers })).status).toBe(404);
  expect((await publish('half', half)).status).toBe(201);
  expect((await (await fetch(address('half'), { headers })).arrayBuffer()).byteLength).toBe(half.length);
  for (const name of kept) expect((await program.root(`GET /projects/root%2F${name}`)).status).toBe(200);
  expect((await program.root('GET /projects/root%2Frefused')).status).toBe(404);
  expect(await program.stop(), program.output()).toEqual({ code: 0, signal: null });
});
