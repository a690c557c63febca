/** Diffs that git makes of files given as text. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll } from 'vitest';
import { readDiff } from '../../src/platform/git/history/diff.ts';
import type { FileDiff } from '../../src/platform/git/history/parse-diff.ts';
import { createObjectReader } from '../../src/platform/git/objects.ts';
import { newBlob, newTree } from '../../src/platform/git/parse.ts';
import { createRepository, storeObjects } from '../../src/platform/git/write.ts';

/** Contents by the names of files in one folder. */
export type Files = Readonly<Record<string, string | Buffer>>;
export type MakeDiff = (from: Files, to: Files) => Promise<FileDiff[]>;

/** For the tests of a file: a repository to compare trees in, as the program compares them. */
export function useDiffs(): MakeDiff {
  const root = mkdtempSync(join(tmpdir(), 'ashlar-diffs-'));
  const folder = join(root, 'one.git');
  const reader = createObjectReader();
  beforeAll(() => createRepository(folder, 'main'));
  afterAll(() => {
    reader.stop();
    rmSync(root, { recursive: true, force: true });
  });

  async function storeTree(files: Files): Promise<string> {
    const names = Object.keys(files).sort((one, two) => Buffer.compare(Buffer.from(one), Buffer.from(two)));
    const blobs = await Promise.all(names.map((name) => newBlob(files[name] ?? '')));
    const tree = await newTree(
      blobs.map(({ oid }, index) => ({ mode: '100644', name: names[index] ?? '', oid })),
    );
    await storeObjects(folder, [...blobs, tree]);
    return tree.oid;
  }

  return async (from, to) => {
    const ends = { from: await storeTree(from), to: await storeTree(to) };
    const { files, overflow } = await readDiff(reader.open(folder), ends);
    if (overflow) throw new Error('the diff is too long for a test');
    return files;
  };
}
