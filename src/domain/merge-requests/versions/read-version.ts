/** Reads what a new version of a merge request is: its diff's ends, its commits, how many files differ. */
import { readDiff } from '../../../platform/git/history/diff.ts';
import { committedBetween, mergeBase } from '../../../platform/git/history/history.ts';
import type { GitFolder } from '../../../platform/git/objects.ts';

/** The heads of the two branches. */
export type Heads = { source: string; target: string };

export type NewVersion = {
  base: string;
  start: string;
  head: string;
  /** Whether the source has not all of the target. */
  isBehind: boolean;
  /** Newest first. */
  commits: string[];
  /** The addresses of who committed them, each once, in lower case. */
  committers: string[];
  files: number;
  /** Whether more files differ than are counted. */
  overflows: boolean;
};

/** Commits of a merge request that are kept by number; of longer ones the newest. */
const MAX_COMMITS = 10_000;

/** The version that the heads make. Without a common ancestor the diff is that of the heads. */
export async function readVersion(git: GitFolder, { source, target }: Heads): Promise<NewVersion> {
  const common = await mergeBase(git, [target, source]);
  const base = common ?? target;
  const [committed, diff] = await Promise.all([
    base === source ? [] : committedBetween(git, target, source, MAX_COMMITS),
    base === source
      ? { total: 0, overflow: false }
      : readDiff(git, { from: base, to: source }, { window: { offset: 0, limit: 0 } }),
  ]);
  const commits = committed.map(({ oid }) => oid);
  const committers = [...new Set(committed.map(({ committer }) => committer))].filter(
    (email) => email !== '',
  );
  return {
    base,
    start: target,
    head: source,
    isBehind: common !== target,
    commits,
    committers,
    files: diff.total,
    overflows: diff.overflow,
  };
}
