import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { createObjectReader } from '../objects.ts';
import { git, gitText } from '../program/program.ts';
import { findCommit } from '../refs.ts';
import { createRepository } from '../write.ts';
import { lastCommitOf } from './last-commit.ts';

const root = mkdtempSync(join(tmpdir(), 'ashlar-last-commit-'));
const reader = createObjectReader();
afterAll(() => {
  reader.stop();
  rmSync(root, { recursive: true, force: true });
});

test('the last commit of a path is that of git, of one that is gone and of one that never was too', async () => {
  const folder = join(root, 'a.git');
  await createRepository(folder, 'main');
  const commit = (change: string, from = '') =>
    `commit refs/heads/main\ncommitter A <a@b.test> 1700000000 +0000\ndata 1\nx\n${from}${change}\n\n`;
  const input = [
    commit('M 100644 inline kept\ndata 1\n1'),
    commit('M 100644 inline gone/deep\ndata 1\n1'),
    commit('D gone/deep'),
    commit('M 100644 inline other\ndata 1\n1'),
  ].join('');
  await git(['fast-import', '--quiet'], { folder, input });
  const opened = reader.open(folder);
  const head = await findCommit(opened, 'main');
  if (!head) throw new Error('no commit');
  const found: string[] = [];
  for (const path of ['kept', 'gone/deep', 'gone', 'other', 'never', 'never/deep', 'kept/never']) {
    const last = await lastCommitOf(opened, head, path.split('/'));
    const ofGit = await gitText(['log', '-1', '--format=%H', 'main', '--', path], { folder });
    expect(last ?? '', path).toBe(ofGit.trim());
    if (last) found.push(path);
  }
  expect(found).toEqual(['kept', 'gone/deep', 'gone', 'other']);
});
