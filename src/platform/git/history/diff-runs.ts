/** Runs git to compare two trees, bounded in time and memory. */
import type { Readable } from 'node:stream';
import { Failure } from '../../failure.ts';
import { endingError, LONG_RUN_TIMEOUT_MS, longRuns, spawnGit, tooLarge } from '../program/program.ts';
import type { ObjectFolder } from './history.ts';
import { type Diff, type DiffOptions, parseDiff } from './parse-diff.ts';

/** Ids of trees or commits. */
export type DiffEnds = { from: string; to: string };

/** What is compared, and where; `renames` is git's option. */
export type Compared = { place: ObjectFolder; ends: DiffEnds; renames: string };

/** Runs git until `parse` has enough. `failure` is git's, where all of its output is not all that there is. */
export const runDiffTree = <T extends { atEnd: boolean }>(
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
export async function readPatches(
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
