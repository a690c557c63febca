/** What the two branches of a merge request are at present. */
import type { AuthorizedProject } from '../../../kernel/access/find.ts';
import type { Needs } from '../../../kernel/services.ts';
import type { GitFolder } from '../../../platform/git/objects.ts';
import { findBranch } from '../../../platform/git/refs.ts';
import type { MergeRequestRow } from '../records/merge-request-rows.ts';
import type { Heads } from './read-version.ts';
import { sourceHead } from './source-head.ts';
import { sourceRef } from './version-refs.ts';

export type TargetProject = Pick<AuthorizedProject, 'id' | 'row' | 'fullPath'>;

/** Undefined where one of the branches is gone. The target is held for writing. */
export async function presentHeads(
  services: Needs<'repositories'>,
  git: GitFolder,
  { iid, project_id, source_project_id, source_branch, target_branch }: MergeRequestRow,
): Promise<Heads | undefined> {
  if (source_project_id === null) return undefined;
  const branch = { projectId: source_project_id, branch: source_branch };
  const [source, target] = await Promise.all([
    sourceHead(services, git, project_id, branch, sourceRef(iid)),
    findBranch(git, target_branch),
  ]);
  return source !== undefined && target ? { source, target: target.oid } : undefined;
}
