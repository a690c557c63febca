/** The repository that an address names, if the visitor may fetch from it or push to it. */
import { authorizeDeployToken, authorizeProject } from '../../../kernel/access/find.ts';
import { jobCredentialOf } from '../../../kernel/actor.ts';
import { projectSettings } from '../../../kernel/namespaces/project-settings.ts';
import { Failure, forbidden } from '../../../platform/failure.ts';
import { FETCHED_REFS } from '../../../platform/git/program/program.ts';
import { authorizePush, sharedBranches } from '../protection/collaborations.ts';
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
    // A job has repositories of projects alone.
    for (const kind of jobCredentialOf(request.visitor.caller) ? [] : repositoryKinds.all(request.services)) {
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
  const { caller, deployToken } = visitor;
  if (deployToken) {
    const ability = purpose === 'read' ? 'read_code' : 'push_code';
    const project = await authorizeDeployToken(points, deployToken, ability, path);
    return projectPushTarget(services, settings, project, caller);
  }
  if (purpose === 'read') {
    const project = await authorizeProject(points, caller, 'read_code', path);
    const target = projectPushTarget(services, settings, project, caller);
    // Those who read no merge requests see none of their commits. A deploy token is for all that git fetches.
    return project.may('read_merge_requests') ? target : { ...target, hiddenRefs: FETCHED_REFS };
  }
  const job = jobCredentialOf(caller);
  if (job) {
    const project = await authorizeProject(points, caller, 'push_code', path);
    const allows = projectSettings(project.row).ci_push_repository_for_job_token_allowed;
    if (project.id !== job.projectId || !allows) throw forbidden();
    return projectPushTarget(services, settings, project, caller);
  }
  const project = await authorizePush({ services, settings, caller }, path);
  const share = caller && !project.may('push_code') ? { services, settings, actor: caller } : undefined;
  return projectPushTarget(
    services,
    settings,
    project,
    caller,
    share && (() => sharedBranches(share, project)),
  );
}
