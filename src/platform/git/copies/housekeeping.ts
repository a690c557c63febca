/** Housekeeping of a repository: repacks it, prunes unreachable objects, and measures it. */
import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { outputOf } from '../program/long-runs.ts';
import { GitError, gitEnvironment } from '../program/program.ts';
import { launch } from '../program/spawner.ts';
import { hasManyLooseRefs } from '../ref-files.ts';
import { eachOf, entriesOf } from './copy.ts';

export type RepackOptions = {
  /**
   * Repacks everything into one pack, and prunes objects unreachable for the grace period; else only packs
   * recent objects.
   */
  whole: boolean;
  /** Age at which unreachable objects are pruned: younger ones may belong to a push in progress. */
  grace?: string;
  signal?: AbortSignal;
};

const TWO_WEEKS = '2.weeks.ago';

/** Milliseconds from the request to end, with cleanup, to the kill. */
const GRACE_MS = 2_500;

/**
 * Runs git to its end and returns its output; outside the short runs, as this may take minutes. The signal
 * ends it and its children: none of them writes any more when this throws.
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
    // Its children share its output: when that has ended, all have.
    return await text(outputOf(Promise.resolve(program), `git ${args[0]}`));
  } catch (error) {
    signal?.throwIfAborted();
    throw error;
  } finally {
    clearTimeout(timer);
    signal?.removeEventListener('abort', end);
  }
}

const packRefs = ['pack-refs', '--all', '--prune'] as const;

/** Folders in which this process packs refs now. */
const packing = new Set<string>();

/**
 * Packs the refs where many have a file each, while they are read and written: not all that makes refs counts as a write, after
 * which the whole is repacked. True when it did.
 */
export async function packManyRefs(folder: string): Promise<boolean> {
  if (packing.has(folder) || !hasManyLooseRefs(folder)) return false;
  packing.add(folder);
  try {
    await runLong(packRefs, folder);
    return true;
  } finally {
    packing.delete(folder);
  }
}

/** Repacks the repository while it is read and written. Only one process may do so at a time. */
export async function repackRepository(
  folder: string,
  { whole, grace = TWO_WEEKS, signal }: RepackOptions,
): Promise<void> {
  const run = (...args: string[]) => runLong(args, folder, signal);
  await run(...packRefs);
  if (whole) {
    await run('repack', '--cruft', `--cruft-expiration=${grace}`, '-d', '-b', '-n', '-q');
    // Objects of interrupted pushes.
    await run('prune', `--expire=${grace}`);
  } else await run('repack', '--geometric=2', '--write-midx', '-b', '-d', '-n', '-q');
  await run('commit-graph', 'write', '--reachable', '--no-progress');
}

export type Measures = { bytes: number; commits: number };

/** The paths of all files; folders that go meanwhile, such as those of merges that are only tried, have none. */
async function filesBelow(folder: string): Promise<string[]> {
  const files: string[] = [];
  for (const entry of await entriesOf(folder)) {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) files.push(...(await filesBelow(path)));
    else if (entry.isFile()) files.push(path);
  }
  return files;
}

/** The bytes of all files below a folder. */
export async function bytesBelow(folder: string): Promise<number> {
  let bytes = 0;
  await eachOf(await filesBelow(folder), async (path) => {
    // A repack may have removed it.
    const file = await stat(path).catch(() => undefined);
    bytes += file?.size ?? 0;
  });
  return bytes;
}

/** The bytes of the repository's files, and the commits of the branch that HEAD names. */
export async function measureRepository(folder: string, signal?: AbortSignal): Promise<Measures> {
  return { bytes: await bytesBelow(folder), commits: await countCommits(folder, signal) };
}

async function countCommits(folder: string, signal: AbortSignal | undefined): Promise<number> {
  try {
    return Number((await runLong(['rev-list', '--count', 'HEAD', '--'], folder, signal)).trim());
  } catch (error) {
    // No branch exists yet.
    if (error instanceof GitError && error.code === 128) return 0;
    throw error;
  }
}
