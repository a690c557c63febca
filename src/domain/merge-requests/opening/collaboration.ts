/** Who may let those of the target push to the source of a fork (facts: Creation). */
import { type AuthorizedProject, authorizeProject } from '../../../kernel/access/find.ts';
import { PRIVATE } from '../../../kernel/policy/roles.ts';
import { Failure } from '../../../platform/failure.ts';
import type { WriteContext } from '../../conversation/index.ts';
import { guardRefs } from '../../repositories/index.ts';

/** Whether the actor may push to the branch of a fork, which is unprotected, and neither project is private. */
async function mayCollaborate(
  { db, services, settings, actor }: WriteContext,
  target: AuthorizedProject,
  sourceId: number | null,
  branch: string,
): Promise<boolean> {
  if (sourceId === null || sourceId === target.id || target.row.visibility === PRIVATE) return false;
  try {
    const source = await authorizeProject(services.database.points, actor, 'push_code', sourceId);
    if (source.row.visibility === PRIVATE) return false;
    const guard = await guardRefs(db, source, actor, settings);
    return guard.mayPush(branch) && !guard.isProtected(branch);
  } catch (error) {
    if (error instanceof Failure && error.kind !== 'unavailable') return false;
    throw error;
  }
}

/** The choice where the actor has it; else none, which the public API passes over. */
export const permittedCollaboration = async (
  context: WriteContext,
  target: AuthorizedProject,
  { sourceProjectId, sourceBranch }: { sourceProjectId: number | null; sourceBranch: string },
  wanted: boolean | undefined,
): Promise<boolean | undefined> =>
  wanted !== undefined && (await mayCollaborate(context, target, sourceProjectId, sourceBranch))
    ? wanted
    : undefined;
