/** Repacks repositories that were written often, and measures those that were written since they were measured. */
import { sql } from 'kysely';
import {
  type ContainerKind,
  containerTables,
  type RepositoryKey,
} from '../../core/repositories/containers.ts';
import type { Services } from '../../core/services.ts';
import { monotonic, now } from '../../platform/clock.ts';
import type { Db } from '../../platform/db/database.ts';
import { type Measures, measureRepository, tendRepository } from '../../platform/git/tend.ts';
import { claimTending } from './claims.ts';

/** Writes after which a repository is repacked: each leaves a pack or some loose objects. */
export const WRITES_TO_TEND = 50;
/** Milliseconds between two repacks of one repository, also where the first one failed. */
const TEND_EVERY = 600_000;
/** How seldom all of a repository is repacked into one. */
const WHOLE_EVERY = 14 * 86_400_000;
const LONGEST_TENDING = 3_600_000;
/** Milliseconds between two looks whether it is to move: moves wait for half a minute. */
const LOOK_EVERY = 1_000;
/** Then the next run, which is not far, goes on. */
const RUN_MILLISECONDS = 50_000;
const MOST_IN_A_RUN = 500;

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

const toTend = (db: Db) =>
  repositories(db)
    .where('writes', '>=', WRITES_TO_TEND)
    .where((eb) =>
      eb.or([eb('tended_at', 'is', null), eb('tended_at', '<', new Date(now().getTime() - TEND_EVERY))]),
    )
    .orderBy('writes', 'desc')
    .limit(MOST_IN_A_RUN);

const toMeasure = (db: Db) =>
  repositories(db)
    .where('writes', '>', 0)
    .whereRef('writes', '<>', 'measured_writes')
    .orderBy('id')
    .limit(MOST_IN_A_RUN);

/** A project's own repository and its wiki's, those that there are. */
export const selectOfProject = (db: Db, projectId: number): Promise<RepositoryRow[]> =>
  repositories(db).where('container', '=', 'project').where('container_id', '=', projectId).execute();

const update = (services: Services, { id }: RepositoryRow) =>
  services.database.background.updateTable('repositories').where('id', '=', id);

const sizes = ({ bytes, commits }: Measures) => ({ size: bytes, commit_count: commits });

/** Aborted when the container is to move, or has gone: a move has no patience for a repack, which may take an hour. */
function untilItMoves({ database, log }: Services, { container, container_id: id }: RepositoryRow) {
  const moving = new AbortController();
  const look = async (): Promise<void> => {
    const { rows } = await sql<{ id: number }>`
      select id from ${sql.table(containerTables[container])}
      where id = ${id} and not repository_read_only`.execute(database.background);
    if (rows.length === 0) moving.abort();
  };
  const timer = setInterval(() => {
    look().catch((error: unknown) => log.error('upkeep does not know whether a repository moves', error));
  }, LOOK_EVERY);
  timer.unref();
  return { signal: moving.signal, stop: () => clearInterval(timer) };
}

/** Tends one repository, unless somebody else does or it moves, now or while it is tended: then a later run will. */
async function tend(services: Services, row: RepositoryRow): Promise<void> {
  const held = await claimTending(services.repositories, keyOf(row));
  if (!held) return;
  const moving = untilItMoves(services, row);
  const started = now();
  const whole = row.packed_at === null || row.packed_at.getTime() < started.getTime() - WHOLE_EVERY;
  try {
    await update(services, row).set({ tended_at: started }).execute();
    const { folder } = held.git;
    const signal = AbortSignal.any([moving.signal, AbortSignal.timeout(LONGEST_TENDING)]);
    await tendRepository(folder, { whole, signal });
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
    await held.release();
  }
}

/** Stores how large the repository is now. */
export async function measure(services: Services, row: RepositoryRow): Promise<void> {
  const held = await services.repositories.hold(keyOf(row), 'read');
  try {
    // Told first: what cannot be measured is not tried again each minute.
    await update(services, row).set({ measured_writes: row.writes }).execute();
    await update(services, row)
      .set(sizes(await measureRepository(held.git.folder)))
      .execute();
  } finally {
    await held.release();
  }
}

/** One after the other, for as long as a run may take; a repository that fails does not keep the others from their turn. */
async function inTurn(
  services: Services,
  rows: readonly RepositoryRow[],
  work: (services: Services, row: RepositoryRow) => Promise<void>,
): Promise<void> {
  const until = monotonic() + RUN_MILLISECONDS;
  for (const row of rows) {
    if (monotonic() > until) return;
    try {
      await work(services, row);
    } catch (error) {
      const { container, container_id, wiki } = row;
      services.log.error('upkeep of a repository failed', error, { container, container_id, wiki });
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

/** The tasks that tend and measure whatever is due. */
export function upkeepTasks(services: Services): { tend(): Promise<void>; measure(): Promise<void> } {
  const db = services.database.background;
  return {
    tend: alone(async () => inTurn(services, await toTend(db).execute(), tend)),
    measure: alone(async () => inTurn(services, await toMeasure(db).execute(), measure)),
  };
}

/**
 * Asks for a whole repack of the project's repository: its row says so, and stays so over a crash. False when it was asked
 * for already and has not been done yet, or is being done.
 */
export async function askForHousekeeping(tx: Db, projectId: number): Promise<boolean> {
  const [own] = (await selectOfProject(tx, projectId)).filter(({ wiki }) => !wiki);
  if (!own) return true;
  const asked = await tx
    .updateTable('repositories')
    .set({
      writes: sql<number>`greatest(writes, ${WRITES_TO_TEND})`,
      packed_at: null,
      tended_at: null,
    })
    .where('id', '=', own.id)
    .where(
      sql<boolean>`not (writes >= ${WRITES_TO_TEND} and packed_at is null and tended_at is null)
        and not exists (select from repository_uses u join processes p on p.id = u.process_id
          where u.container = 'project' and u.container_id = ${projectId} and u.purpose = 'tend')`,
    )
    .executeTakeFirst();
  return asked.numUpdatedRows > 0n;
}
