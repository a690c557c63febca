/** Runs of git share their slots by kind and by caller, within the memory limits of their kind. */
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { runForCaller } from '../../fair-share.ts';
import { createObjectReader } from '../objects.ts';
import { newObject } from '../parse.ts';
import { createRepository, storeObjects } from '../write.ts';
import { gitInTime, streamGit } from './long-runs.ts';
import { endingError, git, gitText, longRuns } from './program.ts';

const parent = mkdtempSync(join(tmpdir(), 'git-program-'));
const folder = join(parent, 'repository.git');
afterAll(() => rmSync(parent, { recursive: true, force: true }));

/** More than a reader's pipe buffers. */
const zeros = newObject('blob', Buffer.alloc(12 * 1_048_576));

beforeAll(async () => {
  await createRepository(folder, 'main');
  await storeObjects(folder, [zeros]);
});

test('however many long runs there are, a short one waits for none of them', async () => {
  const end = Promise.withResolvers<void>();
  const callers = Array.from({ length: 100 }, (_, index) => `caller ${index}`);
  const running = callers.map((caller) =>
    runForCaller({ name: caller }, () => longRuns.run(() => end.promise)),
  );
  let waits = true;
  const long = runForCaller({ name: 'another' }, () => gitInTime(['version'], {})).finally(() => {
    waits = false;
  });
  expect(await runForCaller({ name: 'another' }, () => gitText(['version']))).toMatch(/^git version/);
  expect(waits).toBe(true);
  end.resolve();
  await Promise.all([...running, long]);
});

test('who reads many files slowly keeps no place from others, and gives all of them back', async () => {
  const read = (caller: string): Readable =>
    runForCaller({ name: caller }, () => streamGit(['cat-file', 'blob', zeros.oid], { folder }));
  const slow = Array.from({ length: 8 }, () => read('slow'));
  await Promise.all(slow.map((stream) => once(stream, 'readable')));
  const waiting = read('slow').on('error', () => {});
  const other = read('other');
  let bytes = 0;
  for await (const chunk of other) bytes += chunk.length;
  expect(bytes).toBe(12 * 1_048_576);
  expect(waiting.readableLength).toBe(0);
  slow[0]?.destroy();
  await once(waiting, 'readable');
  for (const stream of [...slow, waiting]) stream.destroy();
  for (const stream of Array.from({ length: 8 }, () => read('slow'))) {
    await once(stream, 'readable');
    stream.destroy();
  }
});

test('what a long run may not hold is 422, and refused before it is unpacked', async () => {
  const large = newObject('blob', Buffer.alloc(120 * 1_048_576));
  await storeObjects(folder, [large]);
  const args = ['hash-object', '--stdin', '-t', 'blob', '--literally'];
  await expect(git(args, { folder, kind: 'long', input: large.content })).rejects.toMatchObject({
    status: 422,
  });
});

test.each([
  ['its seconds are used up', 'SIGXCPU', '', { status: 422 }],
  ['its memory', null, 'fatal: Out of memory, malloc failed', { status: 422 }],
  ['another signal', 'SIGKILL', '', { code: null, stderr: '' }],
  ['a complaint', null, 'fatal: bad object', { code: null, stderr: 'fatal: bad object' }],
] as const)('what a run is refused for that ended early: %s', (_, killedBy, complaint, error) => {
  expect(endingError(['log'], folder, { code: null, killedBy, complaint })).toMatchObject(error);
});

test('what is read after the stop starts nothing that nothing would end', async () => {
  const reader = createObjectReader();
  const repository = reader.open(folder);
  expect(await repository.info(zeros.oid)).toMatchObject({ type: 'blob' });
  const requested = repository.info(zeros.oid);
  reader.stop();
  await Promise.allSettled([requested]);
  await expect(repository.info(zeros.oid)).rejects.toMatchObject({ status: 503 });
});
