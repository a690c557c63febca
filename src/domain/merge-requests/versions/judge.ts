/** Judges whether the heads of two branches can be merged, without a checkout. */
import { judgeMerges } from '../../../platform/git/merging/judge.ts';
import { isAncestor } from '../../../platform/git/merging/merge.ts';
import type { GitFolder } from '../../../platform/git/objects.ts';
import type { Heads } from './read-version.ts';

export type Judgement = { mergeStatus: 'can_be_merged' | 'cannot_be_merged'; isBehind: boolean };

const can: Judgement['mergeStatus'] = 'can_be_merged';
const cannot: Judgement['mergeStatus'] = 'cannot_be_merged';

/** `hasCommits`: without any there is nothing to merge. */
export async function judge(git: GitFolder, heads: Heads, hasCommits: boolean): Promise<Judgement> {
  if (!hasCommits) return { mergeStatus: cannot, isBehind: false };
  // What has all of the target merges with it.
  if (await isAncestor(git, heads.target, heads.source)) return { mergeStatus: can, isBehind: false };
  const pair = { ours: heads.target, theirs: heads.source };
  for await (const { result } of judgeMerges(git.folder, [pair]))
    if (result === 'clean') return { mergeStatus: can, isBehind: true };
  return { mergeStatus: cannot, isBehind: true };
}
