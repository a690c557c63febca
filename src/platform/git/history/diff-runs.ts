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
  /** Ends git. */
  signal?: AbortSignal | undefined;
};

/** Runs git until `parse` has enough. `failure` is git's, where all of its output is not all that there is. */
export const runDiffTree = <T extends { atEnd: boolean }>(
  { place, ends: { from, to }, renames }: Compared,
  { configuration = [], output, paths = [], signal }: DiffTreeOptions,
  parse: (output: Readable) => Promise<T>,
): Promise<{ parsed: T; failure?: Error }> =>
  longRuns.run(async () => {
    const args = [
      ...['--literal-pathspecs', '-c', 'core.quotePath=false', ...configuration],
      ...['diff-tree', '-r', renames, '-z', ...output],
      ...['--no-ext-diff', '--no-textconv', '--no-color', from, to, '--', ...paths],
    ];
    const deadline = AbortSignal.timeout(LONG_RUN_TIMEOUT_MS);
    const ending = signal ? AbortSignal.any([deadline, signal]) : deadline;
    const program = await spawnGit(args, { ...place, kind: 'long', signal: ending });
    program.stdin.end();
    try {
      const parsed = await parse(program.stdout);
      if (!parsed.atEnd) return { parsed };
      const ended = await program.ended;
      if (ended.code === 0) return { parsed };
      const failure = deadline.aborted ? tooLarge() : endingError(['diff-tree'], place.folder, ended);
      return { parsed, failure };
    } finally {
      program.signal('SIGKILL');
      program.stdout.destroy();
    }
  }, signal);

type Patches = { diff: Diff; certain: number; failure?: Failure };

async function runPatches(
  compared: Compared,
  options: DiffOptions,
  paths: readonly string[],
  configuration: readonly string[],
): Promise<Patches> {
  const asked = { configuration, output: PATCHES, paths, signal: options.signal };
  const parse = (output: Readable) => parseDiff(output, options);
  const { parsed, failure } = await runDiffTree(compared, asked, parse);
  const { atEnd: _, certain, ...diff } = parsed;
  if (!failure) return { diff, certain };
  if (!(failure instanceof Failure)) throw failure;
  return { diff, certain, failure };
}

const PATCHES = ['--raw', '-p', '--full-index'];
/** git says of files of this size only that they differ, as of binary ones. */
const WITHOUT_LARGE_FILES = ['-c', 'core.bigFileThreshold=1m'];

/**
 * The files of the window, of all files or of those at the paths; git makes the patches before them too. Where comparing
 * them takes too much memory, it is done again without large files. `give` gets the first of the files.
 */
export async function readPatches(
  compared: Compared,
  options: DiffOptions,
  paths: readonly string[] = [],
): Promise<Diff> {
  const first = await runPatches(compared, options, paths, []);
  const { diff, certain, failure } = first;
  if (!failure) return diff;
  if (diff.total === 0) throw failure;
  if (!(failure instanceof OutOfMemory)) return withoutUncertain(first);
  const second = await runPatches(compared, { ...options, give: undefined }, paths, WITHOUT_LARGE_FILES);
  if (second.failure || !isSameList(second.diff, diff)) return withoutUncertain(first);
  const files = second.diff.files.map((file, index) => {
    const before = diff.files[index];
    if (before && index < certain) return before;
    const isKnown = !file.diff.startsWith('Binary files ') || file.diff === before?.diff;
    return isKnown ? file : { ...file, diff: '', too_large: true };
  });
  return { ...second.diff, files };
}

const isSameList = ({ files }: Diff, other: Diff): boolean =>
  files.length === other.files.length &&
  files.every(({ old_path, new_path }, index) => {
    const file = other.files[index];
    return old_path === file?.old_path && new_path === file.new_path;
  });

/** Drops the patch that may be incomplete. */
function withoutUncertain({ diff, certain }: Patches): Diff {
  const files = diff.files.map((file, index) =>
    index < certain || file.diff === '' ? file : { ...file, diff: '', collapsed: true },
  );
  return { ...diff, files, overflow: true };
}
