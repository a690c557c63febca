/** Tries many merges of one repository, by one process for every fifty of them; nothing is stored. */
import { Failure } from '../../failure.ts';
import type { GitFolder } from '../objects.ts';
import { type MergeResult, type Missing, type Pair, runMerges } from './merge-tree.ts';
import { withQuarantine } from './quarantine.ts';

/** Whether two commits can be merged. The tree of a clean merge is only known. */
export type Judgement =
  | MergeResult
  | Missing
  /** The merge takes longer, or more memory, than a run of git may. */
  | { result: 'too_large' };

/** Merges by one process, and the objects that lie on the disk at the same time. */
const MERGES_AT_ONCE = 50;

/**
 * Judges the pairs in their order, a slice at a time. Where a slice takes too much, each of its pairs gets a
 * process of its own: a huge merge costs its neighbours no more than that.
 */
export async function* judgeMerges(folder: string, pairs: readonly Pair[]): AsyncGenerator<Judgement> {
  let alone = 0;
  for (let at = 0; at < pairs.length; ) {
    const some = pairs.slice(at, at < alone ? at + 1 : at + MERGES_AT_ONCE);
    const judged = await judge(folder, some);
    if (judged === undefined) alone = at + some.length;
    for (const judgement of judged ?? []) yield judgement;
    at += judged?.length ?? 0;
  }
}

/** Judges one pair for who is about to merge it: the tree of a clean merge is stored, and durable. */
export async function judgeToMerge({ folder }: GitFolder, pair: Pair): Promise<Judgement> {
  const [judgement] = (await judge(folder, [pair], true)) ?? [];
  return judgement ?? { result: 'too_large' };
}

/** Judgements of the first pairs, at least one; undefined where all together take too much. */
async function judge(
  folder: string,
  pairs: readonly Pair[],
  keeps = false,
): Promise<Judgement[] | undefined> {
  try {
    return await withQuarantine(folder, async (apart) => {
      const results = await runMerges(apart, pairs);
      if (keeps && results.every(({ result }) => result === 'clean')) await apart.keep();
      return results;
    });
  } catch (error) {
    if (!(error instanceof Failure) || error.kind !== 'unprocessable') throw error;
    return pairs.length === 1 ? [{ result: 'too_large' }] : undefined;
  }
}
