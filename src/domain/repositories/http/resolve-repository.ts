/** The repository that an address names, if the visitor may fetch from it or push to it. */
import {
  type AuthorizedProject,
  authorizeDeployToken,
  authorizeProject,
} from '../../../kernel/access/find.ts';
import { jobCredentialOf } from '../../../kernel/actor.ts';
import { projectSettings } from '../../../kernel/namespaces/project-settings.ts';
import { Failure, forbidden } from '../../../platform/failure.ts';
import { FETCHED_REFS } from '../../../platform/git/program/program.ts';
import { findAliased } from '../aliases/queries.ts';
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

/** The project at the address, when the visitor may fetch its code or push to it; fails as resolveRepository(), with other texts. */
export async function authorizeForGit({
  services,
  settings,
  visitor: { caller, deployToken },
  purpose,
  path: given,
}: RepositoryRequest): Promise<AuthorizedProject> {
  const { points } = services.database;
  // Only an alias has no slash; its project is authorized as by any other address.
  const aliased = given.includes('/') ? undefined : await findAliased(points, given);
  const path = aliased === undefined ? given : String(aliased);
  const ability = purpose === 'read' ? 'read_code' : 'push_code';
  if (deployToken) return authorizeDeployToken(points, deployToken, ability, path);
  if (purpose === 'read') return authorizeProject(points, caller, ability, path);
  const job = jobCredentialOf(caller);
  if (!job) return authorizePush({ services, settings, caller }, path);
  const project = await authorizeProject(points, caller, ability, path);
  const allows = projectSettings(project.row).ci_push_repository_for_job_token_allowed;
  if (project.id !== job.projectId || !allows) throw forbidden();
  return project;
}

async function findProject(request: RepositoryRequest): Promise<PushTarget> {
  const { services, settings, visitor, purpose } = request;
  const { caller, deployToken } = visitor;
  const project = await authorizeForGit(request);
  const share = caller && !project.may('push_code') ? { services, settings, actor: caller } : undefined;
  if (purpose === 'write')
    return projectPushTarget(
      services,
      settings,
      project,
      caller,
      share && (() => sharedBranches(share, project)),
    );
  const target = projectPushTarget(services, settings, project, caller);
  // Those who read no merge requests see none of their commits. A deploy token is for all that git fetches.
  return deployToken || project.may('read_merge_requests') ? target : { ...target, hiddenRefs: FETCHED_REFS };
}
