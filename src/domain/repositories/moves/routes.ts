/** Scheduling and reading moves of projects, snippets and groups: the same six endpoints for each, for administrators. */
import Type from 'typebox';
import { onInstance } from '../../../kernel/access/access.ts';
import { authorizeProject } from '../../../kernel/access/find.ts';
import { Accepted, accepted, type Endpoint, endpoint, found, listing } from '../../../kernel/api/endpoint.ts';
import type { Needs } from '../../../kernel/services.ts';
import { inTransaction } from '../../../platform/db/database.ts';
import { outOfRangeAt, parameterFailure } from '../../../platform/http/parameters/problems.ts';
import { diskPath } from '../store/containers.ts';
import type { MovableContainers } from './movable-containers.ts';
import { presentMoves } from './present.ts';
import { selectMove, selectMoves } from './queries.ts';
import { type MoveRow, scheduleAllMoves, scheduleMove, storageSet } from './schedule-actions.ts';
import { destination, moveId, moveRecordOf, ProjectStorage, source } from './schema.ts';

/** 400 for a storage that the settings do not name, before any look-up. */
function requireStorages(services: Needs<'repositories'>, names: Record<string, string | undefined>): void {
  const { storages } = services.repositories;
  const unknown = Object.entries(names).filter(([, name]) => name !== undefined && !storages.has(name));
  if (unknown.length === 0) return;
  const known = [...storages.keys()].join(', ');
  throw parameterFailure(new Set(unknown.map(([name]) => outOfRangeAt([name], known))));
}

function movesOf(containers: MovableContainers, wake: () => void): Endpoint[] {
  const { kind, noun, tier } = containers;
  const all = `/${kind}_repository_storage_moves`;
  const own = `/${kind}s/:id/repository_storage_moves`;
  const container = { id: containers.reference };
  const item = moveRecordOf(containers);
  const common = {
    access: onInstance,
    ...(tier && ({ tier, offering: 'self_managed' } as const)),
  };
  const present = ({ database, baseUrl }: Needs<'database' | 'baseUrl'>, rows: readonly MoveRow[]) =>
    presentMoves(database.db, baseUrl(), containers, rows);
  const one = async (services: Needs<'database' | 'baseUrl'>, row: MoveRow) =>
    found((await present(services, [row]))[0]);

  return [
    listing({
      ...common,
      method: 'GET',
      path: all,
      summary: `List the moves of ${kind}s between storages, newest first.`,
      item,
      page: 'offset',
      handle: async ({ db, services, page }) => {
        const rows = await selectMoves(db, containers, undefined, page);
        return { ...rows, items: await present(services, rows.items) };
      },
    }),
    endpoint({
      ...common,
      method: 'GET',
      path: `${all}/:repository_storage_move_id`,
      summary: `A move of a ${noun}.`,
      input: Type.Object(moveId),
      reply: item,
      handle: async ({ db, services, input }) =>
        one(services, found(await selectMove(db, containers, undefined, input.repository_storage_move_id))),
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
        await scheduleAllMoves(db, storageSet(services, settings), actor, containers, from, to);
        wake();
        return accepted();
      },
    }),
    listing({
      ...common,
      method: 'GET',
      path: own,
      summary: `List the moves of a ${noun}, newest first.`,
      input: Type.Object(container),
      item,
      page: 'offset',
      handle: async ({ db, services, actor, input, page }) => {
        const id = await containers.find(services, actor, String(input.id));
        const rows = await selectMoves(db, containers, id, page);
        return { ...rows, items: await present(services, rows.items) };
      },
    }),
    endpoint({
      ...common,
      method: 'GET',
      path: `${own}/:repository_storage_move_id`,
      summary: `A move of this ${noun}.`,
      input: Type.Object({ ...container, ...moveId }),
      reply: item,
      handle: async ({ db, services, actor, input }) => {
        const id = await containers.find(services, actor, String(input.id));
        return one(services, found(await selectMove(db, containers, id, input.repository_storage_move_id)));
      },
    }),
    endpoint({
      ...common,
      method: 'POST',
      path: own,
      summary: `Schedule a move of a ${noun} to another storage.`,
      input: Type.Object({ ...container, ...destination }),
      reply: item,
      handle: async ({ db, services, settings, actor, input }) => {
        const id = await containers.find(services, actor, String(input.id));
        const move = await inTransaction(db, (tx) =>
          scheduleMove(tx, storageSet(services, settings), actor, kind, id, input.destination_storage_name),
        );
        wake();
        return one(services, move);
      },
    }),
  ];
}

/** All endpoints; `wake` makes the runner check at once. */
export const moveEndpoints = (kinds: readonly MovableContainers[], wake: () => void): Endpoint[] => [
  ...kinds.flatMap((containers) => movesOf(containers, wake)),
  endpoint({
    method: 'GET',
    path: '/projects/:id/storage',
    summary: "Where a project's repositories are on disk.",
    access: onInstance,
    input: Type.Object({ id: Type.String() }),
    reply: ProjectStorage,
    handle: async ({ services, actor, input }) => {
      const { row } = await authorizeProject(services.database.points, actor, 'read_project', input.id);
      return {
        project_id: row.id,
        disk_path: diskPath({ kind: 'project', id: row.id }),
        created_at: row.created_at.toISOString(),
        repository_storage: row.repository_storage,
      };
    },
  }),
];
