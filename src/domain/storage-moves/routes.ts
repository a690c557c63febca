/** Scheduling and reading moves of projects, snippets and groups: the same six endpoints for each, for administrators. */
import Type, { type Static, type TObject } from 'typebox';
import { onInstance } from '../../core/access/access.ts';
import { authorizeGroup, authorizeProject } from '../../core/access/find.ts';
import { Accepted, accepted, type Endpoint, endpoint, found, listing } from '../../core/endpoint.ts';
import type { Actor } from '../../core/identity/actor.ts';
import { type ContainerKind, diskPath } from '../../core/repositories/containers.ts';
import { scheduleAllMoves, scheduleMove, storageSet } from '../../core/repositories/move-schedule.ts';
import type { Services } from '../../core/services.ts';
import { inTransaction } from '../../platform/db/database.ts';
import { outOfRangeAt, parameterFailure } from '../../platform/http/parameter-problems.ts';
import { type PresentMoves, presentMoves } from './present.ts';
import { selectMove, selectMoves, selectSnippet } from './queries.ts';
import { destination, moveId, moveRecords, ProjectStorage, source } from './schema.ts';

/** The id of the container that an administrator named, by number or full path; 404 when there is none. */
type FindContainer = (services: Services, actor: Actor, reference: string) => Promise<number>;

const findContainer: Record<ContainerKind, FindContainer> = {
  project: async ({ database }, actor, reference) =>
    (await authorizeProject(database.sql, actor, 'read_project', reference)).id,
  group: async ({ database }, actor, reference) =>
    (await authorizeGroup(database.sql, actor, 'read_group', reference)).id,
  snippet: async ({ database }, _actor, reference) =>
    found(await selectSnippet(database.db, Number(reference)), 'Snippet').id,
};

/** 400 for a storage that the settings do not name, before any look-up. */
function requireStorages(services: Services, names: Record<string, string | undefined>): void {
  const { storages } = services.repositories;
  const unknown = Object.entries(names).filter(([, name]) => name !== undefined && !storages.has(name));
  if (unknown.length === 0) return;
  const known = [...storages.keys()].join(', ');
  throw parameterFailure(new Set(unknown.map(([name]) => outOfRangeAt([name], known))));
}

function movesOf<Kind extends ContainerKind, Item extends TObject>(
  kind: Kind,
  item: Item,
  present: (...given: Parameters<PresentMoves<Kind>>) => Promise<Static<Item>[]>,
  wake: () => void,
): Endpoint[] {
  const all = `/${kind}_repository_storage_moves`;
  const own = `/${kind}s/:id/repository_storage_moves`;
  const what = kind === 'group' ? "group's wiki" : kind;
  const container = { id: kind === 'snippet' ? Type.Integer() : Type.String() };
  const common = {
    access: onInstance,
    ...(kind === 'group' && ({ tier: 'premium', offering: 'self_managed' } as const)),
  };
  const one = async (services: Services, rows: Parameters<PresentMoves<Kind>>[2]): Promise<Static<Item>> =>
    found((await present(services.database.db, services.baseUrl(), rows))[0]);

  return [
    listing({
      ...common,
      method: 'GET',
      path: all,
      summary: `List the moves of ${kind}s between storages, newest first.`,
      item,
      page: 'offset',
      handle: async ({ db, services, page }) => {
        const rows = await selectMoves(db, kind, undefined, page);
        return { ...rows, items: await present(db, services.baseUrl(), rows.items) };
      },
    }),
    endpoint({
      ...common,
      method: 'GET',
      path: `${all}/:repository_storage_move_id`,
      summary: `A move of a ${what}.`,
      input: Type.Object(moveId),
      reply: item,
      handle: async ({ db, services, input }) =>
        one(services, [found(await selectMove(db, kind, undefined, input.repository_storage_move_id))]),
    }),
    endpoint({
      ...common,
      method: 'POST',
      path: all,
      summary: `Schedule moves of all ${kind}s of a storage.`,
      input: Type.Object({ ...source, ...destination }),
      reply: Accepted,
      status: 202,
      handle: async ({ db, services, settings, actor, input }) => {
        requireStorages(services, input);
        const { source_storage_name: from, destination_storage_name: to } = input;
        await scheduleAllMoves(db, storageSet(services, settings), actor, kind, from, to);
        wake();
        return accepted();
      },
    }),
    listing({
      ...common,
      method: 'GET',
      path: own,
      summary: `List the moves of a ${what}, newest first.`,
      input: Type.Object(container),
      item,
      page: 'offset',
      handle: async ({ db, services, actor, input, page }) => {
        const id = await findContainer[kind](services, actor, String(input.id));
        const rows = await selectMoves(db, kind, id, page);
        return { ...rows, items: await present(db, services.baseUrl(), rows.items) };
      },
    }),
    endpoint({
      ...common,
      method: 'GET',
      path: `${own}/:repository_storage_move_id`,
      summary: `A move of this ${what}.`,
      input: Type.Object({ ...container, ...moveId }),
      reply: item,
      handle: async ({ db, services, actor, input }) => {
        const id = await findContainer[kind](services, actor, String(input.id));
        return one(services, [found(await selectMove(db, kind, id, input.repository_storage_move_id))]);
      },
    }),
    endpoint({
      ...common,
      method: 'POST',
      path: own,
      summary: `Schedule a move of a ${what} to another storage.`,
      input: Type.Object({ ...container, ...destination }),
      reply: item,
      handle: async ({ db, services, settings, actor, input }) => {
        const id = await findContainer[kind](services, actor, String(input.id));
        const move = await inTransaction(db, (tx) =>
          scheduleMove(tx, storageSet(services, settings), actor, kind, id, input.destination_storage_name),
        );
        wake();
        return one(services, [move]);
      },
    }),
  ];
}

/** All endpoints; `wake` makes the runner check at once. */
export const moveEndpoints = (wake: () => void): Endpoint[] => [
  ...movesOf('project', moveRecords.project, presentMoves.project, wake),
  ...movesOf('snippet', moveRecords.snippet, presentMoves.snippet, wake),
  ...movesOf('group', moveRecords.group, presentMoves.group, wake),
  endpoint({
    method: 'GET',
    path: '/projects/:id/storage',
    summary: "Where a project's repositories are on disk.",
    access: onInstance,
    input: Type.Object({ id: Type.String() }),
    reply: ProjectStorage,
    handle: async ({ services, actor, input }) => {
      const { row } = await authorizeProject(services.database.sql, actor, 'read_project', input.id);
      return {
        project_id: row.id,
        disk_path: diskPath({ kind: 'project', id: row.id }),
        created_at: row.created_at.toISOString(),
        repository_storage: row.repository_storage,
      };
    },
  }),
];
