/** Repacks repositories that were written often, and measures those that were written since they were measured. */

import { sql } from 'kysely';
import type { ContainerKind, RepositoryKey } from '../../../kernel/repository-store.ts';
import type { Services } from '../../../kernel/services.ts';
import { monotonic, now } from '../../../platform/clock.ts';
import type { Db } from '../../../platform/db/database.ts';
import {
  type Measures,
  measureRepository,
  repackRepository,
} from '../../../platform/git/copies/housekeeping.ts';
import { containerTables } from '../store/containers.ts';
import { leaseForHousekeeping } from './leases.ts';

/** Writes after which a repository is repacked: each leaves a pack or some loose objects. */
export const WRITES_TO_REPACK = 50;
/** Milliseconds between two repacks of one repository, also where the first one failed. */
const REPACK_INTERVAL_MS = 600_000;
/** Milliseconds between two repacks of a whole repository into one pack. */
const WHOLE_REPACK_INTERVAL_MS = 14 * 86_400_000;
const REPACK_TIMEOUT_MS = 3_600_000;
/** Milliseconds between two checks whether it is to move: moves wait for half a minute. */
const MOVE_POLL_INTERVAL_MS = 1_000;
/** Then the next run, which comes soon, goes on. */
const RUN_TIMEOUT_MS = 50_000;
const MAX_REPOSITORIES_PER_RUN = 500;

export type RepositoryRow = {
  id: number;
  container: ContainerKind;
  container_id: number;
  wiki: boolean;
  writes: number;
  packed_at: Date | null;
};

const keyOf = (row: RepositoryRow): RepositoryKey => ({
  kind: row.container,
  id: row.container_id,
  wiki: row.wiki,
});

const columns = ['id', 'container', 'container_id', 'wiki', 'writes', 'packed_at'] as const;
const repositories = (db: Db) => db.selectFrom('repositories').select(columns).$castTo<RepositoryRow>();

const toRepack = (db: Db) =>
  repositories(db)
    .where('writes', '>=', WRITES_TO_REPACK)
    .where((eb) =>
      eb.or([
        eb('tended_at', 'is', null),
        eb('tended_at', '<', new Date(now().getTime() - REPACK_INTERVAL_MS)),
      ]),
    )
    .orderBy('writes', 'desc')
    .limit(MAX_REPOSITORIES_PER_RUN);

const toMeasure = (db: Db) =>
  repositories(db)
    .where('writes', '>', 0)
    .whereRef('writes', '<>', 'measured_writes')
    .orderBy('id')
    .limit(MAX_REPOSITORIES_PER_RUN);

/** A project's own repository and its wiki's, those that there are. */
export const selectOfProject = (db: Db, projectId: number): Promise<RepositoryRow[]> =>
  repositories(db).where('container', '=', 'project').where('container_id', '=', projectId).execute();

const update = (services: Services, { id }: RepositoryRow) =>
  services.database.background.updateTable('repositories').where('id', '=', id);

const sizes = ({ bytes, commits }: Measures) => ({ size: bytes, commit_count: commits });

/** Aborted when the container is to move, or has gone: a move does not wait for a repack, which may take an hour. */
function untilItMoves({ database, log }: Services, { container, container_id: id }: RepositoryRow) {
  const moving = new AbortController();
  const look = async (): Promise<void> => {
    const { rows } = await sql<{ id: number }>`
      select id from ${sql.table(containerTables[container])}
      where id = ${id} and not repository_read_only`.execute(database.background);
    if (rows.length === 0) moving.abort();
  };
  const timer = setInterval(() => {
    look().catch((error: unknown) =>
      log.error('housekeeping does not know whether a repository moves', error),
    );
  }, MOVE_POLL_INTERVAL_MS);
  timer.unref();
  return { signal: moving.signal, stop: () => clearInterval(timer) };
}

/** Repacks one repository, unless another process does or it moves, now or meanwhile: then a later run will. */
async function repack(services: Services, row: RepositoryRow): Promise<void> {
  const lease = await leaseForHousekeeping(services.repositories, keyOf(row));
  if (!lease) return;
  const moving = untilItMoves(services, row);
  const started = now();
  const whole =
    row.packed_at === null || row.packed_at.getTime() < started.getTime() - WHOLE_REPACK_INTERVAL_MS;
  try {
    await update(services, row).set({ tended_at: started }).execute();
    const { folder } = lease.git;
    const signal = AbortSignal.any([moving.signal, AbortSignal.timeout(REPACK_TIMEOUT_MS)]);
    await repackRepository(folder, { whole, signal });
    await update(services, row)
      .set({
        ...sizes(await measureRepository(folder, signal)),
        writes: sql<number>`greatest(writes - ${row.writes}, 0)`,
        measured_writes: 0,
        ...(whole && { packed_at: started }),
      })
      .execute();
  } catch (error) {
    if (!moving.signal.aborted) throw error;
  } finally {
    moving.stop();
    await lease.release();
  }
}

/** Stores the present size of the repository. */
export async function measure(services: Services, row: RepositoryRow): Promise<void> {
  const lease = await services.repositories.lease(keyOf(row), 'read');
  try {
    // Recorded first: a repository that cannot be measured is not tried again each minute.
    await update(services, row).set({ measured_writes: row.writes }).execute();
    await update(services, row)
      .set(sizes(await measureRepository(lease.git.folder)))
      .execute();
  } finally {
    await lease.release();
  }
}

/** One after the other, within the time of a run; a repository that fails does not stop the others. */
async function inTurn(
  services: Services,
  rows: readonly RepositoryRow[],
  work: (services: Services, row: RepositoryRow) => Promise<void>,
): Promise<void> {
  const until = monotonic() + RUN_TIMEOUT_MS;
  for (const row of rows) {
    if (monotonic() > until) return;
    try {
      await work(services, row);
    } catch (error) {
      const { container, container_id, wiki } = row;
      services.log.error('housekeeping of a repository failed', error, { container, container_id, wiki });
    }
  }
}

/** A task that does nothing while its last run in this process goes on. */
function alone(work: () => Promise<void>): () => Promise<void> {
  let running = false;
  return async () => {
    if (running) return;
    running = true;
    try {
      await work();
    } finally {
      running = false;
    }
  };
}

/** The tasks that repack and measure the repositories that are due. */
export function housekeepingTasks(services: Services): { repack(): Promise<void>; measure(): Promise<void> } {
  const db = services.database.background;
  return {
    repack: alone(async () => inTurn(services, await toRepack(db).execute(), repack)),
    measure: alone(async () => inTurn(services, await toMeasure(db).execute(), measure)),
  };
}

/**
 * Requests a whole repack of the project's repository: its row says so, and stays so over a crash. False when
 * a request waits or is being fulfilled.
 */
export async function askForHousekeeping(tx: Db, projectId: number): Promise<boolean> {
  const [own] = (await selectOfProject(tx, projectId)).filter(({ wiki }) => !wiki);
  if (!own) return true;
  const requested = await tx
    .updateTable('repositories')
    .set({
      writes: sql<number>`greatest(writes, ${WRITES_TO_REPACK})`,
      packed_at: null,
      tended_at: null,
    })
    .where('id', '=', own.id)
    .where(
      sql<boolean>`not (writes >= ${WRITES_TO_REPACK} and packed_at is null and tended_at is null)
        and not exists (select from repository_uses u join processes p on p.id = u.process_id
          where u.container = 'project' and u.container_id = ${projectId} and u.purpose = 'tend')`,
    )
    .executeTakeFirst();
  return requested.numUpdatedRows > 0n;
}
