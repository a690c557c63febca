/** Users on whose behalf something is done after the commit, with their rights of that time. */
import { type AuthorizedProject, authorizeProject } from '../../../kernel/access/find.ts';
import { type Actor, toActor } from '../../../kernel/actor.ts';
import type { Needs } from '../../../kernel/services.ts';
import { Failure } from '../../../platform/failure.ts';
import { usersByIds } from './queries.ts';

/** Undefined for one who is blocked or gone: nothing is done any more in their name. */
export async function findActor({ database }: Needs<'database'>, userId: number): Promise<Actor | undefined> {
  const [person] = await usersByIds(database.background, [userId]);
  return person && toActor(person, { via: 'password' });
}

export type UserOfProject = { actor: Actor; project: AuthorizedProject };

/** The user with the rights in the project; undefined for one who is blocked or may not read it any more. */
export async function findUserOfProject(
  services: Needs<'database'>,
  projectId: number,
  userId: number,
): Promise<UserOfProject | undefined> {
  const actor = await findActor(services, userId);
  if (!actor) return undefined;
  try {
    return {
      actor,
      project: await authorizeProject(services.database.points, actor, 'read_project', projectId),
    };
  } catch (error) {
    if (error instanceof Failure && error.kind !== 'unavailable') return undefined;
    throw error;
  }
}
