/** Reads what nearly all payloads need: the project, and who did it. */
import { reachProject } from '../../../kernel/access/find.ts';
import type { ProjectRow } from '../../../kernel/namespaces/rows.ts';
import { presentUserBasic, type Surroundings, type UserBasic } from '../../../kernel/users/records.ts';
import type { HookServices } from '../events/hook-events.ts';
import { hookGroup, hookProject } from './parts.ts';
import { selectGroupPart, selectUserParts } from './queries.ts';

export const surroundingsOf = async (services: HookServices): Promise<Surroundings> => ({
  baseUrl: services.baseUrl(),
  settings: await services.settings.read(),
});

/** Users by their ids, those that are still there. */
export async function readUsers(
  { database }: HookServices,
  around: Surroundings,
  ids: readonly number[],
): Promise<ReadonlyMap<number, UserBasic>> {
  if (ids.length === 0) return new Map();
  const rows = await selectUserParts(database.background, ids);
  return new Map(rows.map((row) => [row.id, presentUserBasic(around, row)]));
}

export const readPeople = async (
  services: HookServices,
  ids: readonly number[],
): Promise<ReadonlyMap<number, UserBasic>> => readUsers(services, await surroundingsOf(services), ids);

/** Who did it; undefined where no user did, or one that is gone. */
export async function readActor(
  services: HookServices,
  id: number | null | undefined,
): Promise<UserBasic | undefined> {
  if (id == null) return undefined;
  return (await readPeople(services, [id])).get(id);
}

export type HookContext = {
  around: Surroundings;
  project: ProjectRow;
  /** Undefined where no user did it, or one that is gone. */
  user: UserBasic | undefined;
};

/** The project of an event and its user; undefined where the project is gone. */
export async function readContext(
  services: HookServices,
  projectId: number,
  userId: number | null | undefined,
): Promise<HookContext | undefined> {
  const around = await surroundingsOf(services);
  const [project, users] = await Promise.all([
    reachProject(services.database.points, projectId),
    readUsers(services, around, userId == null ? [] : [userId]),
  ]);
  return project && { around, project: project.row, user: users.get(userId ?? 0) };
}

/** The project or group of a fact. */
export type HookPlace = { project_id: number } | { namespace_id: number };

/** The part that shows where something is; undefined where the place is gone. */
export async function readPlace(
  services: HookServices,
  place: HookPlace,
): Promise<
  { project: ReturnType<typeof hookProject> } | { group: ReturnType<typeof hookGroup> } | undefined
> {
  if ('project_id' in place) {
    const context = await readContext(services, place.project_id, undefined);
    return context && { project: hookProject(context.around, context.project) };
  }
  const group = await selectGroupPart(services.database.background, place.namespace_id);
  return group && { group: hookGroup(group) };
}
