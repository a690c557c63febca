/**
 * Schedules moves of containers between storages: the container becomes read-only, and the listener of moves
 * continues (facts: Repository storage moves).
 */

import { type RawBuilder, type Selectable, sql } from 'kysely';
import { announce } from '../../../kernel/activity/announce-actions.ts';
import type { Actor } from '../../../kernel/actor.ts';
import type { ContainerKind } from '../../../kernel/repository-store.ts';
import type { Needs } from '../../../kernel/services.ts';
import type { ApplicationSettings } from '../../../kernel/settings/definitions.ts';
import { now } from '../../../platform/clock.ts';
import { type Db, inTransaction } from '../../../platform/db/database.ts';
import type { StorageMovesTable } from '../../../platform/db/rows.ts';
import { invalid } from '../../../platform/failure.ts';
import { randomFraction } from '../../../platform/secret.ts';
import { containerTables } from '../store/containers.ts';
import { pickStorage } from '../store/storage-choice.ts';
import type { MovableContainers } from './movable-containers.ts';

export const moveStates = [
  'initial',
  'scheduled',
  'started',
  'finished',
  'failed',
  'replicated',
  'cleanup failed',
] as const;
export type MoveState = (typeof moveStates)[number];

export type MoveRow = Selectable<StorageMovesTable> & { container: ContainerKind; state: MoveState };

/** The storages and weights that destinations are chosen by. */
export type StorageSet = {
  names: readonly string[];
  /** `repository_storages_weighted` of the settings. */
  weights: Record<string, number>;
};

/** The storages of this instance. */
export const storageSet = (
  { repositories }: Needs<'repositories'>,
  settings: Pick<ApplicationSettings, 'repository_storages_weighted'>,
): StorageSet => ({
  names: [...repositories.storages.keys()],
  weights: settings.repository_storages_weighted,
});

/** Another storage by weight; undefined when no other has a weight. */
function pickOther({ names, weights }: StorageSet, source: string): string | undefined {
  const others = names.filter((name) => name !== source && (weights[name] ?? 0) > 0);
  return others.length === 0 ? undefined : pickStorage(weights, others, randomFraction());
}

/** An unfinished move: only it may write into the container's folders. */
const isMoving = (kind: ContainerKind): RawBuilder<boolean> => sql<boolean>`exists (
  select from storage_moves m where m.container = ${kind}::text and m.container_id = c.id
    and m.state in ('scheduled', 'started', 'replicated'))`;

const container = (kind: ContainerKind) => sql.table(containerTables[kind]);

/** Schedules one container's move, in the caller's transaction; 400 where it cannot move now or there. */
export async function scheduleMove(
  tx: Db,
  storages: StorageSet,
  actor: Actor,
  kind: ContainerKind,
  id: number,
  wished?: string,
): Promise<MoveRow> {
  // The lock serializes this move and other changes of the row.
  const { rows } = await sql<{ storage: string; read_only: boolean; moving: boolean }>`
    select c.repository_storage as storage, c.repository_read_only as read_only, ${isMoving(kind)} as moving
    from ${container(kind)} c where c.id = ${id} for update`.execute(tx);
  const [current] = rows;
  // Only a group may have no wiki row.
  if (!current) throw invalid({ [kind]: ['has no wiki repository'] });
  const destination = wished ?? pickOther(storages, current.storage);
  const problems = {
    ...(!storages.names.includes(current.storage) && {
      source_storage_name: ['is not included in the list'],
    }),
    ...destinationProblems(storages, current.storage, destination),
    ...((current.read_only || current.moving) && { [kind]: ['is read-only'] }),
  };
  if (destination === undefined || Object.keys(problems).length > 0) throw invalid(problems);
  await sql`update ${container(kind)} set repository_read_only = true where id = ${id}`.execute(tx);
  const time = now();
  const move = await tx
    .insertInto('storage_moves')
    .values({
      container: kind,
      container_id: id,
      state: 'scheduled',
      source_storage_name: current.storage,
      destination_storage_name: destination,
      created_at: time,
      updated_at: time,
    })
    .returningAll()
    .executeTakeFirstOrThrow();
  await audit(tx, actor, { target_type: kind, target_id: id, from: current.storage, to: destination });
  // The table's checks admit these values only.
  return move as MoveRow;
}

function destinationProblems(storages: StorageSet, source: string, destination: string | undefined) {
  if (destination === undefined) return { destination_storage_name: ["can't be blank"] };
  if (!storages.names.includes(destination))
    return { destination_storage_name: ['is not included in the list'] };
  if (destination === source) return { destination_storage_name: ['must not be same as source'] };
  return {};
}

/** Containers per transaction: one statement over a whole storage would exceed its timeout. */
const BATCH = 1_000;

/** Schedules moves of every container of a storage; those that cannot move stay. */
export async function scheduleAllMoves(
  db: Db,
  storages: StorageSet,
  actor: Actor,
  containers: MovableContainers,
  source: string,
  wished?: string,
): Promise<void> {
  if (wished === source || (wished ?? pickOther(storages, source)) === undefined) return;
  // Scheduled containers are read-only and not selected again, so each batch has others.
  for (let scheduled = BATCH; scheduled === BATCH; )
    scheduled = await inTransaction(db, (tx) =>
      scheduleBatch(tx, storages, actor, containers, source, wished),
    );
}

async function scheduleBatch(
  tx: Db,
  storages: StorageSet,
  actor: Actor,
  { kind, isThere }: MovableContainers,
  source: string,
  wished: string | undefined,
): Promise<number> {
  const { rows } = await sql<{ id: number }>`
    update ${container(kind)} set repository_read_only = true
    where id in (
      select c.id from ${container(kind)} c
      where c.repository_storage = ${source} and not c.repository_read_only and ${isThere} and not ${isMoving(kind)}
      order by c.id limit ${BATCH} for update skip locked)
    returning id`.execute(tx);
  if (rows.length === 0) return 0;
  const ids = rows.map(({ id }) => id);
  const destinations = ids.map(() => wished ?? pickOther(storages, source));
  const time = now();
  await sql`
    insert into storage_moves
      (container, container_id, state, source_storage_name, destination_storage_name, created_at, updated_at)
    select ${kind}::text, id, 'scheduled', ${source}::text, destination, ${time}::timestamptz, ${time}::timestamptz
    from unnest(${ids}::bigint[], ${destinations}::text[]) as scheduled(id, destination)
    order by id`.execute(tx);
  await audit(tx, actor, { target_type: kind, from: source, to: wished ?? null });
  return rows.length;
}

type Audited = { target_type: ContainerKind; target_id?: number; from: string; to: string | null };

const audit = (tx: Db, actor: Actor, details: Audited): Promise<void> =>
  announce(tx, {
    author: actor,
    audit: {
      entity: { type: 'InstanceScope', id: 1, path: 'instance' },
      event: 'repository_storage_move_scheduled',
      details,
    },
  });
