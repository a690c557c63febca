/** Changes of trees made again, each upon the result of the one before, by few processes. */
import { monotonic } from '../../clock.ts';
import { Failure } from '../../failure.ts';
import { tooLarge } from '../program/program.ts';
import { lendCommits, type TreeMerge } from './merge.ts';
import { type MergeResult, runMerges } from './merge-tree.ts';
import type { Quarantine } from './quarantine.ts';

/** A change from one tree to another. */
export type Change = Omit<TreeMerge, 'ours'>;

export type Replayed = {
  /** The tree after each change, up to the first that conflicts. */
  trees: string[];
  /** The names of the files in which the next change conflicts. */
  conflict?: string[];
};

const REPLAY_TIMEOUT_MS = 120_000;
/** Changes that are replayed together, at first and at most. */
const FIRST_RUN = 32;
const MAX_RUN = 128;

/**
 * Replays the changes upon a tree. git 2.39 answers a batch of merges at its end only, so a merge of it cannot
 * build upon another. But the tree after several changes is mostly that of all of them merged at once: these
 * are made first, as guesses, and then every change upon the guess before it. As far as the results are the
 * guesses they are right, whatever was guessed, and so is the first that differs. 422 where it takes too long.
 */
export async function replay(
  apart: Quarantine,
  start: string,
  changes: readonly Change[],
): Promise<Replayed> {
  const until = monotonic() + REPLAY_TIMEOUT_MS;
  const trees: string[] = [];
  let most = FIRST_RUN;
  while (trees.length < changes.length) {
    if (monotonic() > until) throw tooLarge();
    const run = runAt(changes, trees.length, most);
    try {
      const { trees: next, conflict } = await replayRun(apart, trees.at(-1) ?? start, run);
      trees.push(...next);
      if (conflict) return { trees, conflict };
      most = next.length === run.length ? Math.min(MAX_RUN, most * 2) : Math.ceil(most / 2);
    } catch (error) {
      if (run.length === 1 || !(error instanceof Failure) || error.kind !== 'unprocessable') throw error;
      most = Math.ceil(run.length / 4);
    }
  }
  return { trees };
}

/** Changes of which each begins where the one before ends, from a place on. */
function runAt(changes: readonly Change[], from: number, most: number): readonly Change[] {
  const some = changes.slice(from, from + most);
  const gap = some.findIndex(({ base }, index) => index > 0 && base !== some[index - 1]?.theirs);
  return gap < 0 ? some : some.slice(0, gap);
}

/** Replays the first changes of a run, at least one. */
async function replayRun(apart: Quarantine, start: string, run: readonly Change[]): Promise<Replayed> {
  const base = run[0]?.base ?? start;
  const guessed = await mergeAll(
    apart,
    run.slice(0, -1).map(({ theirs }) => ({ base, ours: start, theirs })),
  );
  const known = guessed.map((each) => (each.result === 'clean' ? each.tree : undefined));
  const end = known.indexOf(undefined);
  const guesses = end < 0 ? known : known.slice(0, end);
  const merges = run.slice(0, guesses.length + 1).map((change, index) => ({
    ...change,
    ours: guesses[index - 1] ?? start,
  }));
  const trees: string[] = [];
  for (const [index, merged] of (await mergeAll(apart, merges)).entries()) {
    if (merged.result !== 'clean')
      return { trees, conflict: merged.result === 'conflict' ? merged.paths : [] };
    trees.push(merged.tree);
    if (merged.tree !== guesses[index]) break;
  }
  return { trees };
}

async function mergeAll(apart: Quarantine, merges: readonly TreeMerge[]): Promise<MergeResult[]> {
  if (merges.length === 0) return [];
  const results = await runMerges(apart, await lendCommits(apart, merges));
  return results.map((each) => {
    if (each.result === 'missing') throw new Error('a commit to be merged is not there');
    return each;
  });
}
