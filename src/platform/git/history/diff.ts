/** Differences of two trees: a record per file, with its patch unless that is too long; and line counts. */
import type { Readable } from 'node:stream';
import { Failure } from '../../failure.ts';
import type { GitFolder } from '../objects.ts';
import { textInTime } from '../program/long-runs.ts';
import {
  endingError,
  LONG_RUN_TIMEOUT_MS,
  longRuns,
  OutOfMemory,
  spawnGit,
  tooLarge,
} from '../program/program.ts';
import { countFiles } from '../trees.ts';
import { createCommitCache } from './commit-cache.ts';
import type { ObjectFolder, Window } from './history.ts';
import {
  type Diff,
  type DiffOptions,
  type FileEntry,
  type FileList,
  parseDiff,
  parseFileList,
} from './parse-diff.ts';

/** The empty tree, to compare a first commit with; every git knows it. */
export const EMPTY_TREE = '4b825dc642cb6eb9a060e54bf8d69288fbee4904';

/** Ids of trees or commits. */
export type DiffEnds = { from: string; to: string };

/**
 * Compares two trees; renames are found by content. Patches that would take too long, or too much memory, are left out; 422
 * where even the list of the files would.
 */
export async function readDiff(
  git: GitFolder,
  ends: DiffEnds,
  options: DiffOptions & { place?: ObjectFolder } = {},
): Promise<Diff> {
  const files = await countFiles(git, ends.to, ends.from);
  const { place = git, unidiff, window } = options;
  return withOrWithoutRenames(files, async (renames) => {
    const compared = { place, ends, renames };
    const later = window && window.offset > 0 ? await readLater(compared, unidiff, window) : undefined;
    return later ?? readPatches(compared, { unidiff, ...(window && { window }) });
  });
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

/** What is compared, and where; `renames` is git's option. */
type Compared = { place: ObjectFolder; ends: DiffEnds; renames: string };

/** Runs git until `parse` has enough. `failure` is git's, where all of its output is not all that there is. */
const runDiffTree = <T extends { atEnd: boolean }>(
  { place, ends: { from, to }, renames }: Compared,
  output: readonly string[],
  paths: readonly string[],
  parse: (output: Readable) => Promise<T>,
): Promise<{ parsed: T; failure?: Error }> =>
  longRuns.run(async () => {
    const args = [
      ...['--literal-pathspecs', '-c', 'core.quotePath=false', 'diff-tree', '-r', renames, '-z', ...output],
      ...['--no-ext-diff', '--no-textconv', '--no-color', from, to, '--', ...paths],
    ];
    const deadline = AbortSignal.timeout(LONG_RUN_TIMEOUT_MS);
    const program = await spawnGit(args, { ...place, kind: 'long', signal: deadline });
    program.stdin.end();
    try {
      const parsed = await parse(program.stdout);
      if (!parsed.atEnd) return { parsed };
      const ending = await program.ended;
      if (ending.code === 0) return { parsed };
      const failure = deadline.aborted ? tooLarge() : endingError(['diff-tree'], place.folder, ending);
      return { parsed, failure };
    } finally {
      program.signal('SIGKILL');
      program.stdout.destroy();
    }
  });

/** The files of the window, of all files or of those at the paths; git makes the patches before them too. */
async function readPatches(
  compared: Compared,
  options: DiffOptions,
  paths: readonly string[] = [],
): Promise<Diff> {
  const { parsed, failure } = await runDiffTree(compared, ['--raw', '-p', '--full-index'], paths, (output) =>
    parseDiff(output, options),
  );
  const { atEnd: _, ...diff } = parsed;
  if (!failure) return diff;
  if (!(failure instanceof Failure) || diff.total === 0) throw failure;
  return withoutLastPatch(diff);
}

/** Drops the last patch, which may be incomplete. */
function withoutLastPatch(diff: Diff): Diff {
  const last = diff.files.findLastIndex((file) => file.diff !== '');
  const files = diff.files.map((file, index) =>
    index === last ? { ...file, diff: '', collapsed: true } : file,
  );
  return { ...diff, files, overflow: true };
}

const pathsOf = (entries: readonly FileEntry[]): string[] => [
  ...new Set(entries.flatMap(({ old_path, new_path }) => [old_path, new_path])),
];
const lengthOf = (paths: readonly string[]): number => paths.reduce((sum, path) => sum + path.length, 0);

/** A cache: pages of one difference follow each other, and each needs the list of its files. */
const fileLists = createCommitCache<FileList>(16, ({ entries }) => lengthOf(pathsOf(entries)) < 524_288);

const readFileList = (compared: Compared): Promise<FileList> => {
  const { place, ends, renames } = compared;
  return fileLists(`${place.folder} ${ends.from} ${ends.to} ${renames}`, async () => {
    const { parsed, failure } = await runDiffTree(compared, ['--raw', '--no-abbrev'], [], parseFileList);
    if (failure) throw failure;
    return parsed;
  });
};

/** In characters: a program's arguments are bounded. */
const MAX_PATHS_LENGTH = 262_144;

/**
 * The files of a window that begins later, without the patches before it. Undefined where git, asked for these files
 * alone, compares others: a name that is no text, a folder that was a file, a rename that it finds among few files only.
 */
async function readLater(
  compared: Compared,
  unidiff: boolean | undefined,
  { offset, limit }: Window,
): Promise<Diff | undefined> {
  const { entries, more, isText } = await readFileList(compared);
  const total = entries.length;
  const wanted = entries.slice(offset, offset + limit);
  if (wanted.length === 0) return { files: [], total, overflow: more };
  const paths = pathsOf(wanted);
  if (!isText || lengthOf(paths) > MAX_PATHS_LENGTH) return undefined;
  const { files, overflow } = await readPatches(compared, { unidiff }, paths);
  const isWanted = (file: FileEntry, index: number): boolean => {
    const entry = wanted[index];
    return (
      file.old_path === entry?.old_path &&
      file.new_path === entry.new_path &&
      file.a_mode === entry.a_mode &&
      file.b_mode === entry.b_mode
    );
  };
  if (files.length !== wanted.length || !files.every(isWanted)) return undefined;
  return { files, total, overflow: more || overflow };
}

export type LineCounts = { additions: number; deletions: number; total: number };

/** Added and deleted lines between each pair of trees, in order; binary files do not count. */
export async function countLines(git: GitFolder, pairs: readonly DiffEnds[]): Promise<LineCounts[]> {
  if (pairs.length === 0) return [];
  let files = 0;
  for (const { from, to } of pairs) files += await countFiles(git, to, from);
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
