/** Runs `git merge-tree`: many merges by one process, whose objects go to a quarantine. */
import { decode } from '../parse.ts';
import { gitInTime } from '../program/long-runs.ts';
import { GitError } from '../program/program.ts';
import type { Quarantine } from './quarantine.ts';

/** Two commits to merge, both ids: the first is the one that is kept on. */
export type Pair = { ours: string; theirs: string };

export type MergeResult =
  | { result: 'clean'; tree: string }
  /** The names of files in conflict, the first thousand. */
  | { result: 'conflict'; paths: string[] }
  /** The two have no common ancestor. */
  | { result: 'unrelated' };

/** One of the two commits is not in the repository. */
export type Missing = { result: 'missing' };

/** Names listed for one merge: whoever resolves more starts with these. */
const MAX_PATHS = 1_000;
/** Bytes of output for one merge: so many names are cut off. */
const MAX_OUTPUT_BYTES = 4 * 1_048_576;

const ends: readonly [RegExp, MergeResult | Missing][] = [
  [/refusing to merge unrelated histories/, { result: 'unrelated' }],
  [/not something we can merge/, { result: 'missing' }],
];

/**
 * Merges each pair with its own merge bases. git ends at a pair that is unrelated or missing, so the results
 * are those of the first pairs, at least one; 422 where they take too long, or too much memory.
 */
export async function runMerges(
  { place }: Quarantine,
  pairs: readonly Pair[],
): Promise<(MergeResult | Missing)[]> {
  const args = ['merge-tree', '--write-tree', '--stdin', '-z', '--name-only', '--no-messages'];
  const options = {
    ...place,
    input: pairs.map(({ ours, theirs }) => `${ours} ${theirs}\n`).join(''),
    maximumOutput: MAX_OUTPUT_BYTES,
    cutOutput: pairs.length === 1,
  };
  try {
    // What is kept of the objects is synced then.
    const results = parseMerges(await gitInTime(['-c', 'core.fsync=none', ...args], options), pairs);
    if (results.length < pairs.length) throw new Error('git merge-tree left a merge out');
    return results;
  } catch (error) {
    const end = error instanceof GitError && ends.find(([pattern]) => pattern.test(error.stderr))?.[1];
    if (!end) throw error;
    return [...parseMerges(error.output, pairs), end];
  }
}

/** Parses, for each merge: 1 or 0, the tree, the names in conflict, and an empty field. */
function parseMerges(output: Buffer, pairs: readonly Pair[]): MergeResult[] {
  const results: MergeResult[] = [];
  let at = 0;
  const next = (): Buffer => {
    const end = output.indexOf(0, at);
    const field = output.subarray(at, end < 0 ? output.length : end);
    at = end < 0 ? output.length : end + 1;
    return field;
  };
  for (const pair of pairs) {
    if (at >= output.length) break;
    const isClean = next().toString('latin1') === '1';
    const tree = next().toString('latin1');
    const paths = new Set<string>();
    for (let name = next(); name.length > 0; name = next())
      if (paths.size < MAX_PATHS) paths.add(withoutCommit(decode(name), pair));
    results.push(isClean ? { result: 'clean', tree } : { result: 'conflict', paths: [...paths] });
  }
  return results;
}

/** git renames a file that is in the way of a folder after the commit that it comes from. */
function withoutCommit(path: string, { ours, theirs }: Pair): string {
  for (const oid of [ours, theirs]) {
    const at = path.lastIndexOf(`~${oid}`);
    if (at > 0 && /^(_\d+)?$/.test(path.slice(at + 1 + oid.length))) return path.slice(0, at);
  }
  return path;
}
