/** In whose name background work goes on: a user, and the project with the rights of the program. */
import { type AuthorizedProject, reachProject } from '../../../kernel/access/find.ts';
import { type Actor, toActor } from '../../../kernel/actor.ts';
import { actorColumnsBehindRequests } from '../../../kernel/identity/admin-mode-queries.ts';
import type { Needs } from '../../../kernel/services.ts';
import type { MergeRequestRow } from '../records/merge-request-rows.ts';
import type { Pushed } from '../writing/following-jobs.ts';

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
    .select(actorColumnsBehindRequests())
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

/** In the name of who pushed; of a deploy key or token, or a push that was interrupted, of the author. */
export const actingFor = (
  services: Needs<'database'>,
  { user_id, event_chain }: Pick<Pushed, 'user_id' | 'event_chain'>,
  { project_id, author_id }: Pick<MergeRequestRow, 'project_id' | 'author_id'>,
): Promise<Acting | undefined> => findActing(services, project_id, user_id ?? author_id, event_chain);
