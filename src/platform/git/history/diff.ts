/** Differences of two trees: a record per file, with its patch unless that is too long; and line counts. */
import type { GitFolder } from '../objects.ts';
import { textInTime } from '../program/long-runs.ts';
import { OutOfMemory } from '../program/program.ts';
import { countFiles } from '../trees.ts';
import { createCommitCache } from './commit-cache.ts';
import { type DiffEnds, readPatches } from './diff-runs.ts';
import { readWindow } from './diff-window.ts';
import type { ObjectFolder } from './history.ts';
import type { Diff, DiffOptions, FileDiff } from './parse-diff.ts';

/** The empty tree, to compare a first commit with; every git knows it. */
export const EMPTY_TREE = '4b825dc642cb6eb9a060e54bf8d69288fbee4904';

/** A cache: each page of a difference is preceded by a walk through its folders. */
const fileCounts = createCommitCache<number>(10_000);

/** The number of files and folders that differ; 422 when too many. */
export const countDifferences = (git: GitFolder, { from, to }: DiffEnds): Promise<number> =>
  fileCounts(`${git.folder} ${from} ${to}`, () => countFiles(git, to, from));

/** So many patches, and the list of their files, are made sooner by one run of git than by two. */
const FEW_FILES = 300;

/**
 * Compares two trees; renames are found by content. Patches that would take too long, or too much memory, are left out; 422
 * where even the list of the files would.
 */
export async function readDiff(
  git: GitFolder,
  ends: DiffEnds,
  options: DiffOptions & { place?: ObjectFolder } = {},
): Promise<Diff> {
  const files = await countDifferences(git, ends);
  const { place = git, window, ...others } = options;
  let given = 0;
  const give =
    others.give &&
    ((file: FileDiff) => {
      given += 1;
      others.give?.(file);
    });
  const diff = await withOrWithoutRenames(files, async (renames) => {
    const compared = { place, ends, renames };
    const part = window && files > FEW_FILES ? await readWindow(compared, others.unidiff, window) : undefined;
    return part ?? readPatches(compared, { ...others, give, ...(window && { window }) });
  });
  for (const file of diff.files.slice(given)) others.give?.(file);
  return diff;
}

/** Above this number of files renames are not detected. */
export const MAX_RENAMED = 20_000;

/** Detecting renames compares whole contents: falls back to none where that takes too much. */
async function withOrWithoutRenames<T>(files: number, run: (renames: string) => Promise<T>): Promise<T> {
  const without = '--no-renames';
  if (files > MAX_RENAMED) return run(without);
  try {
    return await run('-M');
  } catch (error) {
    if (error instanceof OutOfMemory) return run(without);
    throw error;
  }
}

export type LineCounts = { additions: number; deletions: number; total: number };

/** Added and deleted lines between each pair of trees, in order; binary files do not count. */
export async function countLines(git: GitFolder, pairs: readonly DiffEnds[]): Promise<LineCounts[]> {
  if (pairs.length === 0) return [];
  let files = 0;
  for (const pair of pairs) files += await countDifferences(git, pair);
  const input = pairs.map(({ from, to }) => `${from} ${to}\n`).join('');
  const options = ['--shortstat', '--no-ext-diff', '--no-textconv'];
  const text = await withOrWithoutRenames(files, (renames) =>
    textInTime(['diff-tree', '--stdin', '-r', renames, ...options], { folder: git.folder, input }),
  );
  const counts: LineCounts[] = [];
  for (const line of text.split('\n')) {
    if (/^[0-9a-f]/.test(line)) counts.push({ additions: 0, deletions: 0, total: 0 });
    const last = counts.at(-1);
    if (!last) continue;
    last.additions += Number(/(\d+) insertion/.exec(line)?.[1] ?? 0);
    last.deletions += Number(/(\d+) deletion/.exec(line)?.[1] ?? 0);
    last.total = last.additions + last.deletions;
  }
  return counts;
}
