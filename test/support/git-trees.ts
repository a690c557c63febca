/** A bare repository of a test's own, and trees in it. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll } from 'vitest';
import { createObjectReader, type GitFolder } from '../../src/platform/git/objects.ts';
import { gitText } from '../../src/platform/git/program/program.ts';
import { createRepository } from '../../src/platform/git/write.ts';

/** A file, in Latin-1. */
export type TreeFile = { path: string; text: string; mode?: string };

/** Makes the repository before the tests of the calling file, and removes it after them. */
export function useRepository(): GitFolder {
  const folder = join(mkdtempSync(join(tmpdir(), 'ashlar-trees-')), 'one.git');
  const reader = createObjectReader();
  beforeAll(() => createRepository(folder, 'main'));
  afterAll(() => {
    reader.stop();
    rmSync(join(folder, '..'), { recursive: true, force: true });
  });
  return reader.open(folder);
}

/** The ids of trees of these files, by one run of git. */
export async function makeTrees(
  { folder }: GitFolder,
  ...all: readonly (readonly TreeFile[])[]
): Promise<string[]> {
  const commits = all.map((files, index) => {
    const listed = files.map(
      ({ path, text, mode = '100644' }) => `M ${mode} inline ${path}\ndata ${text.length}\n${text}\n`,
    );
    return `commit refs/heads/made-${index}\ncommitter A <a@b> 1 +0000\ndata 0\ndeleteall\n${listed.join('')}\n`;
  });
  const input = Buffer.from(commits.join(''), 'latin1');
  await gitText(['fast-import', '--quiet', '--force'], { folder, input });
  const names = all.map((_, index) => `refs/heads/made-${index}^{tree}`);
  return (await gitText(['rev-parse', ...names], { folder })).trim().split('\n');
}
