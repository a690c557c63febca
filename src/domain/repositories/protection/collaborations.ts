/** Who may push to a branch of a project without pushing to the project: where a merge request from it allows that. */
import { type AuthorizedProject, authorizeProject } from '../../../kernel/access/find.ts';
import type { ObjectReference } from '../../../kernel/access/find-queries.ts';
import type { Actor, Caller } from '../../../kernel/actor.ts';
import { Registry } from '../../../kernel/registry.ts';
import type { Needs } from '../../../kernel/services.ts';
import type { ApplicationSettings } from '../../../kernel/settings/definitions.ts';
import { Failure } from '../../../platform/failure.ts';

type CollaborationContext = {
  services: Needs<'database' | 'registered'>;
  settings: ApplicationSettings;
  actor: Actor;
};

/** The branches of the project to which the actor may push so; protected ones are taken out by the guard. */
export type Collaboration = (
  context: CollaborationContext,
  project: AuthorizedProject,
) => Promise<ReadonlySet<string>>;

export const collaborations = new Registry<Collaboration>();

/** Nothing for those who push to the project, nor for those who do not read its code; the archive has none. */
export async function sharedBranches(
  context: CollaborationContext,
  project: AuthorizedProject,
): Promise<ReadonlySet<string>> {
  if (project.may('push_code') || !project.may('push_to_shared_branches')) return new Set();
  const found = await Promise.all(
    collaborations.all(context.services).map((branchesOf) => branchesOf(context, project)),
  );
  return new Set(found.flatMap((branches) => [...branches]));
}

/** The project for who pushes to it, or to a shared branch of it; 403 with the reason for others who see it. */
export async function authorizePush(
  { caller, ...context }: Omit<CollaborationContext, 'actor'> & { caller: Caller },
  reference: ObjectReference,
  reason?: string,
): Promise<AuthorizedProject> {
  const { points } = context.services.database;
  try {
    return await authorizeProject(points, caller, 'push_code', reference, reason);
  } catch (error) {
    if (!caller || !(error instanceof Failure && error.kind === 'forbidden')) throw error;
    const project = await authorizeProject(points, caller, 'push_to_shared_branches', reference, reason);
    const shared = await sharedBranches({ ...context, actor: caller }, project);
    if (shared.size === 0) throw error;
    return project;
  }
}
