/** Judges whether the heads of two branches can be merged, without a checkout. */
import { judgeMerges, type Judgement as Tried } from '../../../platform/git/merging/judge.ts';
import { isAncestor } from '../../../platform/git/merging/merge.ts';
import type { Pair } from '../../../platform/git/merging/merge-tree.ts';
import type { GitFolder } from '../../../platform/git/objects.ts';
import { peelToCommit } from '../../../platform/git/refs.ts';
import type { Heads } from './read-version.ts';

export type Judgement = { mergeStatus: 'can_be_merged' | 'cannot_be_merged'; isBehind: boolean };

/** Tries one merge: without it, nothing of it is stored. */
export type TryMerge = (git: GitFolder, pair: Pair) => Promise<Tried>;

async function tryMerge(git: GitFolder, pair: Pair): Promise<Tried> {
  for await (const tried of judgeMerges(git.folder, [pair])) return tried;
  return { result: 'too_large' };
}

/**
 * Whether the tree that merging makes lets the source have all of the target: merging what has all of it changes nothing. Only
 * the history tells, where the tree is the source's.
 */
export const mayContain = async (git: GitFolder, source: string, merged: Tried): Promise<boolean> =>
  merged.result === 'clean' && (await peelToCommit(git, source))?.tree === merged.tree;

/** `hasCommits`: without any there is nothing to merge. `isBehind`, where it is known: the source has not all of the target. */
export async function judge(
  git: GitFolder,
  { source, target }: Heads,
  { hasCommits, isBehind }: { hasCommits: boolean; isBehind?: boolean },
  merge: TryMerge = tryMerge,
): Promise<Judgement> {
  if (!hasCommits) return { mergeStatus: 'cannot_be_merged', isBehind: false };
  // What has all of the target merges with it.
  if (isBehind === false) return { mergeStatus: 'can_be_merged', isBehind };
  const merged = await merge(git, { ours: target, theirs: source });
  const contains =
    isBehind === undefined &&
    (await mayContain(git, source, merged)) &&
    (await isAncestor(git, target, source));
  return {
    mergeStatus: merged.result === 'clean' ? 'can_be_merged' : 'cannot_be_merged',
    isBehind: !contains,
  };
}
