/** Judges whether the heads of two branches can be merged, without a checkout. */
import { isAncestor, mergeCommits } from '../../../platform/git/merge.ts';
import type { GitFolder } from '../../../platform/git/objects.ts';
import { GitError } from '../../../platform/git/program/program.ts';
import type { Heads } from '../versions/read-version.ts';

export type Judgement = { mergeStatus: 'can_be_merged' | 'cannot_be_merged'; isBehind: boolean };

/** Whether git merges them: histories without a common ancestor it refuses. */
async function merges(git: GitFolder, { source, target }: Heads): Promise<boolean> {
  try {
    const { conflicts } = await mergeCommits(git, target, source);
    return conflicts.length === 0;
  } catch (error) {
    if (error instanceof GitError && /unrelated histories/.test(error.stderr)) return false;
    throw error;
  }
}

/** `hasCommits`: without any there is nothing to merge. */
export async function judge(git: GitFolder, heads: Heads, hasCommits: boolean): Promise<Judgement> {
  if (!hasCommits) return { mergeStatus: 'cannot_be_merged', isBehind: false };
  const isBehind = !(await isAncestor(git, heads.target, heads.source));
  // What has all of the target merges with it.
  const merged = !isBehind || (await merges(git, heads));
  return { mergeStatus: merged ? 'can_be_merged' : 'cannot_be_merged', isBehind };
}
