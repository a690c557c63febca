/** Commits of forks that come to the target's repository. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { gitRunsDuring } from '../../../../test/support/git-runs.ts';
import { makeHistory } from '../../../../test/support/shaped-history.ts';
import { createObjectReader } from '../../../platform/git/objects.ts';
import { readRef, refsBelow } from '../../../platform/git/refs.ts';
import { createRepository } from '../../../platform/git/write.ts';
import { setSourceRef } from './set-refs.ts';
import { bringCommit } from './source-head.ts';
import { fetchedRef, keptRef, sourceRef } from './version-refs.ts';

const root = mkdtempSync(join(tmpdir(), 'ashlar-source-head-'));
const reader = createObjectReader();
afterAll(() => {
  reader.stop();
  rmSync(root, { recursive: true, force: true });
});

test('several that bring the same commit at once all have it', async () => {
  const [fork, target] = ['fork', 'target'].map((name) => reader.open(join(root, `${name}.git`)));
  if (!fork || !target) throw new Error('two repositories');
  for (const { folder } of [fork, target]) await createRepository(folder, 'main');
  const steps = Array.from({ length: 5 }, (_, at) => ({ name: `wanted-${at}`, files: { a: `${at}` } }));
  const ids = await makeHistory(fork.folder, steps);
  for (const oid of Object.values(ids)) {
    await Promise.all(Array.from({ length: 4 }, () => bringCommit(fork, target, oid)));
    expect(await readRef(target, fetchedRef(oid))).toBe(oid);
  }
});

test('what a merge request points to needs no ref of its own, and is not brought again', async () => {
  const [fork, target] = ['other-fork', 'other-target'].map((name) => reader.open(join(root, `${name}.git`)));
  if (!fork || !target) throw new Error('two repositories');
  for (const { folder } of [fork, target]) await createRepository(folder, 'main');
  const { one = '', two = '' } = await makeHistory(fork.folder, [
    { name: 'one', files: { a: '1' } },
    { name: 'two', parents: ['one'], files: { a: '2' } },
  ]);
  const folders = ['refs/ashlar', 'refs/merge-requests'];
  const names = async () => (await refsBelow(target, folders)).map(({ name }) => name);
  for (const oid of [one, two]) {
    await bringCommit(fork, target, oid, sourceRef(1));
    expect(await names()).toContain(fetchedRef(oid));
    await setSourceRef(target, 1, () => oid);
    const runs = await gitRunsDuring(() => bringCommit(fork, target, oid, sourceRef(1)));
    expect(runs).not.toHaveProperty('fetch');
  }
  expect(await names()).toEqual([keptRef(1, one), sourceRef(1)]);
});
