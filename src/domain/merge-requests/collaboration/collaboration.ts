/** `allow_collaboration`: those who may merge push to the source branch of a fork, while the merge request is open (facts: Permissions). */
import { type AuthorizedProject, authorizeProject } from '../../../kernel/access/find.ts';
import type { Actor } from '../../../kernel/actor.ts';
import { PRIVATE } from '../../../kernel/policy/roles.ts';
import type { Needs } from '../../../kernel/services.ts';
import type { ApplicationSettings } from '../../../kernel/settings/definitions.ts';
import { Failure } from '../../../platform/failure.ts';
import { areRelated, type Collaboration, guardRefs } from '../../repositories/index.ts';
import { selectShared } from './queries.ts';

type SharingContext = { services: Needs<'database'>; settings: ApplicationSettings; actor: Actor };

const isPrivate = ({ row }: AuthorizedProject): boolean => row.visibility === PRIVATE;

/** The project, where the actor has the ability. */
export const projectWith = (
  { services, actor }: Pick<SharingContext, 'services' | 'actor'>,
  ability: 'push_code' | 'create_merge_requests',
  id: number,
): Promise<AuthorizedProject | undefined> =>
  authorizeProject(services.database.points, actor, ability, id).catch((error) => {
    if (error instanceof Failure && error.kind !== 'unavailable') return undefined;
    throw error;
  });

/** Whether the actor may let others push to the source: who pushes there, to an unprotected branch, in the open. */
export async function mayShare(
  context: SharingContext,
  target: AuthorizedProject,
  source: { projectId: number | null; branch: string },
): Promise<boolean> {
  const { projectId, branch } = source;
  if (projectId === null || projectId === target.id || isPrivate(target)) return false;
  const project = await projectWith(context, 'push_code', projectId);
  if (!project || isPrivate(project)) return false;
  const { services, settings, actor } = context;
  const guard = await guardRefs(services.database.db, project, actor, settings);
  return guard.mayPush(branch) && !guard.isProtected(branch);
}

/** Everything is looked at anew for each push: a role, a setting or the fork may have gone since it was allowed. */
export const collaboration: Collaboration = async (context, source) => {
  const { services, settings, actor } = context;
  const { db } = services.database;
  if (isPrivate(source)) return new Set();
  const byTarget = Map.groupBy(await selectShared(db, source.id), ({ project_id }) => project_id);
  const shared = await Promise.all(
    [...byTarget].map(async ([targetId, rows]) => {
      const target = await projectWith(context, 'create_merge_requests', targetId);
      if (!target || isPrivate(target) || !(await areRelated(db, source.id, targetId))) return [];
      const guard = await guardRefs(db, target, actor, settings);
      return rows.filter(
        ({ target_branch }) => guard.mayMerge(target_branch) || guard.mayPush(target_branch),
      );
    }),
  );
  return new Set(shared.flat().map(({ source_branch }) => source_branch));
};
