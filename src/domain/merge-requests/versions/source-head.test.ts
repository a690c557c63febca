/** Commits of forks that come to the target's repository. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { makeHistory } from '../../../../test/support/shaped-history.ts';
import { createObjectReader } from '../../../platform/git/objects.ts';
import { readRef } from '../../../platform/git/refs.ts';
import { createRepository } from '../../../platform/git/write.ts';
import { bringCommit } from './source-head.ts';
import { fetchedRef } from './version-refs.ts';

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
