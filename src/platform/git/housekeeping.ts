/** Keeps a repository small and quick: repacks it, drops what nothing points to, and measures it. */
import { readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { eachOf } from './copy.ts';
import { outputOf } from './long-runs.ts';
import { GitError, gitEnvironment } from './program.ts';
import { launch } from './spawner.ts';

export type RepackOptions = {
  /** Everything into one pack, and what nothing has pointed to for the grace goes; else only what came lately is packed. */
  whole: boolean;
  /** How old an object that nothing points to must be to go: younger ones may be a push's that is not done yet. */
  grace?: string;
  signal?: AbortSignal;
};

const TWO_WEEKS = '2.weeks.ago';

/** Until a run that is told to end, and to clean up behind itself, is killed. */
const GRACE_MS = 2_500;

/**
 * Runs git to its end and returns its output; not among the short runs, for this may take minutes. The signal ends it with
 * all that it has started: none of them writes any more when this throws.
 */
export async function runLong(
  args: readonly string[],
  folder: string,
  signal?: AbortSignal | undefined,
): Promise<string> {
  signal?.throwIfAborted();
  const program = await launch('git', [`--git-dir=${folder}`, ...args], gitEnvironment);
  let timer: NodeJS.Timeout | undefined;
  const end = (): void => {
    program.signal('SIGTERM');
    timer = setTimeout(() => program.signal('SIGKILL'), GRACE_MS);
  };
  if (signal?.aborted) end();
  else signal?.addEventListener('abort', end, { once: true });
  program.stdin.end();
  try {
    // Its output is that of its children too: when it has ended, so have all.
    return await text(outputOf(Promise.resolve(program), `git ${args[0]}`));
  } catch (error) {
    signal?.throwIfAborted();
    throw error;
  } finally {
    clearTimeout(timer);
    signal?.removeEventListener('abort', end);
  }
}

/** Repacks the repository while it is read and written. Only one may do so at a time. */
export async function repackRepository(
  folder: string,
  { whole, grace = TWO_WEEKS, signal }: RepackOptions,
): Promise<void> {
  const run = (...args: string[]) => runLong(args, folder, signal);
  await run('pack-refs', '--all', '--prune');
  if (whole) {
    await run('repack', '--cruft', `--cruft-expiration=${grace}`, '-d', '-b', '-n', '-q');
    // What is left of pushes that were cut off.
    await run('prune', `--expire=${grace}`);
  } else await run('repack', '--geometric=2', '--write-midx', '-b', '-d', '-n', '-q');
  await run('commit-graph', 'write', '--reachable', '--no-progress');
}

export type Measures = { bytes: number; commits: number };

/** The bytes of the repository's files, and the commits of the branch that HEAD names. */
export async function measureRepository(folder: string, signal?: AbortSignal): Promise<Measures> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  let bytes = 0;
  await eachOf(
    entries.filter((entry) => entry.isFile()),
    async (entry) => {
      // A repack may have taken it away.
      const file = await stat(join(entry.parentPath, entry.name)).catch(() => undefined);
      bytes += file?.size ?? 0;
    },
  );
  return { bytes, commits: await countCommits(folder, signal) };
}

async function countCommits(folder: string, signal: AbortSignal | undefined): Promise<number> {
  try {
    return Number((await runLong(['rev-list', '--count', 'HEAD', '--'], folder, signal)).trim());
  } catch (error) {
    // There is no branch yet.
    if (error instanceof GitError && error.code === 128) return 0;
    throw error;
  }
}
