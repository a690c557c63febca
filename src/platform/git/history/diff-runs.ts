/** Runs git to compare two trees, bounded in time and memory. */
import type { Readable } from 'node:stream';
import { Failure } from '../../failure.ts';
import {
  endingError,
  LONG_RUN_TIMEOUT_MS,
  longRuns,
  OutOfMemory,
  spawnGit,
  tooLarge,
} from '../program/program.ts';
import type { ObjectFolder } from './history.ts';
import { type Diff, type DiffOptions, parseDiff } from './parse-diff.ts';

/** Ids of trees or commits. */
export type DiffEnds = { from: string; to: string };

/** What is compared, and where; `renames` is git's option. */
export type Compared = { place: ObjectFolder; ends: DiffEnds; renames: string };

type DiffTreeOptions = {
  configuration?: readonly string[];
  output: readonly string[];
  /** Only these files; all by default. */
  paths?: readonly string[];
};

/** Runs git until `parse` has enough. `failure` is git's, where all of its output is not all that there is. */
export const runDiffTree = <T extends { atEnd: boolean }>(
  { place, ends: { from, to }, renames }: Compared,
  { configuration = [], output, paths = [] }: DiffTreeOptions,
  parse: (output: Readable) => Promise<T>,
): Promise<{ parsed: T; failure?: Error }> =>
  longRuns.run(async () => {
    const args = [
      ...['--literal-pathspecs', '-c', 'core.quotePath=false', ...configuration],
      ...['diff-tree', '-r', renames, '-z', ...output],
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

type Patches = { diff: Diff; failure?: Failure };

async function runPatches(
  compared: Compared,
  options: DiffOptions,
  paths: readonly string[],
  configuration: readonly string[],
): Promise<Patches> {
  const parse = (output: Readable) => parseDiff(output, options);
  const { parsed, failure } = await runDiffTree(compared, { configuration, output: PATCHES, paths }, parse);
  const { atEnd: _, ...diff } = parsed;
  if (!failure) return { diff };
  if (!(failure instanceof Failure) || diff.total === 0) throw failure;
  return { diff, failure };
}

const PATCHES = ['--raw', '-p', '--full-index'];
/** git says of files of this size only that they differ, as of binary ones. */
const WITHOUT_LARGE_FILES = ['-c', 'core.bigFileThreshold=1m'];

/**
 * The files of the window, of all files or of those at the paths; git makes the patches before them too. Where comparing
 * them takes too much memory, it is done again without large files.
 */
export async function readPatches(
  compared: Compared,
  options: DiffOptions,
  paths: readonly string[] = [],
): Promise<Diff> {
  const { diff, failure } = await runPatches(compared, options, paths, []);
  if (!failure) return diff;
  if (!(failure instanceof OutOfMemory)) return withoutLastPatch(diff);
  const second = await runPatches(compared, options, paths, WITHOUT_LARGE_FILES);
  if (second.failure) return withoutLastPatch(diff);
  const files = second.diff.files.map((file, index) => {
    const isKnown = !file.diff.startsWith('Binary files ') || file.diff === diff.files[index]?.diff;
    return isKnown ? file : { ...file, diff: '', too_large: true };
  });
  return { ...second.diff, files };
}

/** Drops the last patch, which may be incomplete. */
function withoutLastPatch(diff: Diff): Diff {
  const last = diff.files.findLastIndex((file) => file.diff !== '');
  const files = diff.files.map((file, index) =>
    index === last ? { ...file, diff: '', collapsed: true } : file,
  );
  return { ...diff, files, overflow: true };
}
