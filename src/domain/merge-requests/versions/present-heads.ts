/** What the two branches of a merge request are at present. */
import type { AuthorizedProject } from '../../../kernel/access/find.ts';
import type { GitFolder } from '../../../platform/git/objects.ts';
import { findBranch } from '../../../platform/git/refs.ts';
import type { MergeRequestRow } from '../records/merge-request-rows.ts';
import type { Heads } from './read-version.ts';

export type TargetProject = Pick<AuthorizedProject, 'id' | 'row' | 'fullPath'>;

/** Undefined where one of the branches is gone. */
export async function presentHeads(
  git: GitFolder,
  { source_branch, target_branch }: Pick<MergeRequestRow, 'source_branch' | 'target_branch'>,
): Promise<Heads | undefined> {
  const [source, target] = await Promise.all([
    findBranch(git, source_branch),
    findBranch(git, target_branch),
  ]);
  return source && target && { source: source.oid, target: target.oid };
}
