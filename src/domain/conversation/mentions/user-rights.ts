/**
 * Users on whose behalf something is done after the commit, with their rights of that time. An administrator's count for what
 * follows a fact of admin mode.
 */
import {
  type AuthorizedGroup,
  type AuthorizedProject,
  authorizeGroup,
  authorizeProject,
} from '../../../kernel/access/find.ts';
import { type Actor, toActor } from '../../../kernel/actor.ts';
import { isOfAdminMode } from '../../../kernel/identity/admin-mode-queries.ts';
import type { Needs } from '../../../kernel/services.ts';
import type { Sql } from '../../../platform/db/driver/sql.ts';
import { Failure } from '../../../platform/failure.ts';
import { usersByIds } from './queries.ts';

/** The payload of the fact, or of a job that was added for it. */
export type FollowedFact = { admin_mode?: unknown };

/** Undefined for one who is blocked or gone: nothing is done any more in their name. */
export async function findActor(
  { database }: Needs<'database'>,
  userId: number,
  fact?: FollowedFact,
): Promise<Actor | undefined> {
  const adminMode = isOfAdminMode(fact);
  const [person] = await usersByIds(database.background, [userId], adminMode);
  // What it announces is of admin mode, too.
  return person && toActor({ ...person, ...(adminMode && { adminMode }) }, { via: 'password' });
}

/** The user, with the rights in a project or group; undefined for one who is blocked or may not read it any more. */
async function withRights<Rights>(
  services: Needs<'database'>,
  userId: number,
  fact: FollowedFact | undefined,
  authorize: (points: Sql, actor: Actor) => Promise<Rights>,
): Promise<({ actor: Actor } & Rights) | undefined> {
  const actor = await findActor(services, userId, fact);
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
  fact?: FollowedFact,
): Promise<UserOfProject | undefined> =>
  withRights(services, userId, fact, async (points, actor) => ({
    project: await authorizeProject(points, actor, 'read_project', projectId),
  }));

export const findUserOfGroup = (
  services: Needs<'database'>,
  groupId: number,
  userId: number,
  fact?: FollowedFact,
): Promise<UserOfGroup | undefined> =>
  withRights(services, userId, fact, async (points, actor) => ({
    group: await authorizeGroup(points, actor, 'read_group', groupId),
  }));
