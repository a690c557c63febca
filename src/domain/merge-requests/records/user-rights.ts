/** Users on whose behalf something is done after the commit, with their rights of that time. */
import { type AuthorizedProject, authorizeProject } from '../../../kernel/access/find.ts';
import { type Actor, toActor } from '../../../kernel/actor.ts';
import type { Needs } from '../../../kernel/services.ts';
import { Failure } from '../../../platform/failure.ts';
import { usersByIds } from '../../conversation/index.ts';

export type UserOfProject = { actor: Actor; project: AuthorizedProject };

/** The user with the rights in the project; undefined for one who is blocked or may not read it any more. */
export async function findUserOfProject(
  { database: { background, points } }: Needs<'database'>,
  projectId: number,
  userId: number,
): Promise<UserOfProject | undefined> {
  const [person] = await usersByIds(background, [userId]);
  if (!person) return undefined;
  const actor = toActor(person, { via: 'password' });
  try {
    return { actor, project: await authorizeProject(points, actor, 'read_project', projectId) };
  } catch (error) {
    if (error instanceof Failure && error.kind !== 'unavailable') return undefined;
    throw error;
  }
}
