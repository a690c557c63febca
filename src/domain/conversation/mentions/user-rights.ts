/** Users on whose behalf something is done after the commit, with their rights of that time. */
import {
  type AuthorizedGroup,
  type AuthorizedProject,
  authorizeGroup,
  authorizeProject,
} from '../../../kernel/access/find.ts';
import { type Actor, toActor } from '../../../kernel/actor.ts';
import type { Needs } from '../../../kernel/services.ts';
import type { Sql } from '../../../platform/db/driver/sql.ts';
import { Failure } from '../../../platform/failure.ts';
import { usersByIds } from './queries.ts';

/** Undefined for one who is blocked or gone: nothing is done any more in their name. */
export async function findActor({ database }: Needs<'database'>, userId: number): Promise<Actor | undefined> {
  const [person] = await usersByIds(database.background, [userId]);
  return person && toActor(person, { via: 'password' });
}

/** The user, with the rights in a project or group; undefined for one who is blocked or may not read it any more. */
async function withRights<Rights>(
  services: Needs<'database'>,
  userId: number,
  authorize: (points: Sql, actor: Actor) => Promise<Rights>,
): Promise<({ actor: Actor } & Rights) | undefined> {
  const actor = await findActor(services, userId);
  if (!actor) return undefined;
  try {
    return { actor, ...(await authorize(services.database.points, actor)) };
  } catch (error) {
    if (error instanceof Failure && error.kind !== 'unavailable') return undefined;
    throw error;
  }
}

export type UserOfProject = { actor: Actor; project: AuthorizedProject };
export type UserOfGroup = { actor: Actor; group: AuthorizedGroup };
export type UserOfHome = UserOfProject | UserOfGroup;

export const findUserOfProject = (
  services: Needs<'database'>,
  projectId: number,
  userId: number,
): Promise<UserOfProject | undefined> =>
  withRights(services, userId, async (points, actor) => ({
    project: await authorizeProject(points, actor, 'read_project', projectId),
  }));

export const findUserOfGroup = (
  services: Needs<'database'>,
  groupId: number,
  userId: number,
): Promise<UserOfGroup | undefined> =>
  withRights(services, userId, async (points, actor) => ({
    group: await authorizeGroup(points, actor, 'read_group', groupId),
  }));
