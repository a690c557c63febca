/** The repository that an address names, if the visitor may fetch from it or push to it. */
import { authorizeDeployToken, authorizeProject } from '../../../kernel/access/find.ts';
import { Failure } from '../../../platform/failure.ts';
import { type PushTarget, type RepositoryRequest, repositoryKinds } from '../store/repository-kinds.ts';
import type { Purpose } from './credentials.ts';
import { projectPushTarget } from './project-push-target.ts';

const refusals = {
  read: 'You are not allowed to download code from this project.',
  write: 'You are not allowed to push code to this project.',
} as const satisfies Record<Purpose, string>;

/**
 * The repository, when the visitor may fetch or push there; 401, 403 and 404 as the API would, Moved under an
 * old path.
 */
export async function resolveRepository(request: RepositoryRequest): Promise<PushTarget> {
  try {
    for (const kind of repositoryKinds.all(request.services)) {
      const target = await kind.find(request);
      if (target) return target;
    }
    return await findProject(request);
  } catch (error) {
    if (error instanceof Failure && error.kind === 'forbidden')
      throw new Failure('forbidden', refusals[request.purpose]);
    throw error;
  }
}

async function findProject({
  services,
  settings,
  visitor,
  purpose,
  path,
}: RepositoryRequest): Promise<PushTarget> {
  const { points } = services.database;
  const ability = purpose === 'read' ? 'read_code' : 'push_code';
  const { caller, deployToken } = visitor;
  const project = deployToken
    ? await authorizeDeployToken(points, deployToken, ability, path)
    : await authorizeProject(points, caller, ability, path);
  return projectPushTarget(services, settings, project, caller);
}
