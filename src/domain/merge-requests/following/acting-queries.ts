/** In whose name background work goes on: a user, and the project with the rights of the program. */
import { type AuthorizedProject, reachProject } from '../../../kernel/access/find.ts';
import { type Actor, actorColumns, toActor } from '../../../kernel/actor.ts';
import type { Needs } from '../../../kernel/services.ts';

export type Acting = { actor: Actor; project: AuthorizedProject };

/** Undefined where the user or the project is gone. What follows is in the chain of events of what it follows. */
export async function findActing(
  { database }: Needs<'database'>,
  projectId: number,
  userId: number,
  eventChain?: string,
): Promise<Acting | undefined> {
  const user = await database.background
    .selectFrom('users')
    .select(actorColumns)
    .where('id', '=', userId)
    .executeTakeFirst();
  if (!user) return undefined;
  const actor = {
    ...toActor(user as Parameters<typeof toActor>[0], { via: 'password' }),
    ...(eventChain !== undefined && { eventChain }),
  };
  const project = await reachProject(database.points, projectId);
  return project && { actor, project };
}
