/** Repacks repositories that were written often, and measures those that were written since they were measured. */

import type { RepositoryKey } from '../../../kernel/repository-store.ts';
import type { Needs } from '../../../kernel/services.ts';
import { backupRuns } from '../../../platform/blobs/blobs.ts';
import { monotonic, now } from '../../../platform/clock.ts';
import { measureRepository, repackRepository } from '../../../platform/git/copies/housekeeping.ts';
import { leaseForHousekeeping } from './leases.ts';
import {
  type RepositoryRow,
  staysInPlace,
  toMeasure,
  toRepack,
  WHOLE_REPACK_INTERVAL_MS,
} from './queries.ts';
import { recordMeasures, recordMeasuringStart, recordRepack, recordRepackStart } from './repack-actions.ts';

const REPACK_TIMEOUT_MS = 3_600_000;
/** Milliseconds between two checks whether it is to move: moves wait for half a minute. */
const MOVE_POLL_INTERVAL_MS = 1_000;
/** Then the next run, which comes soon, goes on. */
const RUN_TIMEOUT_MS = 50_000;

const keyOf = (row: RepositoryRow): RepositoryKey => ({
  kind: row.container,
  id: row.container_id,
  wiki: row.wiki,
});

/**
 * Aborted when the container is to move, or has gone: a move does not wait for a repack, which may take an hour. A whole one is
 * aborted for a backup, too: it removes what is in no ref any more, and the refs of the backup may have it.
 */
function untilItMoves({ database, log }: Needs<'database' | 'log'>, row: RepositoryRow, whole: boolean) {
  const moving = new AbortController();
  const look = async (): Promise<void> => {
    const db = database.background;
    if (!(await staysInPlace(db, row)) || (whole && (await backupRuns(db)))) moving.abort();
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
async function repack(
  services: Needs<'database' | 'repositories' | 'log'>,
  row: RepositoryRow,
): Promise<void> {
  const lease = await leaseForHousekeeping(services.repositories, keyOf(row));
  if (!lease) return;
  const db = services.database.background;
  const started = now();
  const isDue =
    row.packed_at === null || row.packed_at.getTime() < started.getTime() - WHOLE_REPACK_INTERVAL_MS;
  // The lease is there: a backup that begins after this sees it.
  const whole = isDue && !(await backupRuns(db).catch(() => true));
  const moving = untilItMoves(services, row, whole);
  try {
    await recordRepackStart(db, row, started);
    const { folder } = lease.git;
    const signal = AbortSignal.any([moving.signal, AbortSignal.timeout(REPACK_TIMEOUT_MS)]);
    await repackRepository(folder, { whole, signal });
    const counted = await recordMeasuringStart(db, row);
    const measures = await measureRepository(folder, signal);
    await recordRepack(db, row, { measures, counted, ...(whole && { packedAt: started }) });
  } catch (error) {
    if (!moving.signal.aborted) throw error;
  } finally {
    moving.stop();
    await lease.release();
  }
}

/** Stores the present sizes of repositories of one container, under one lease. */
export async function measure(
  services: Needs<'database' | 'repositories'>,
  rows: readonly [RepositoryRow, ...RepositoryRow[]],
): Promise<void> {
  const { repositories } = services;
  const db = services.database.background;
  const lease = await repositories.lease(keyOf(rows[0]), 'read');
  try {
    for (const row of rows) {
      // Recorded first: a repository that cannot be measured is not tried again each minute.
      const counted = await recordMeasuringStart(db, row);
      const folder = repositories.folder(keyOf(row), lease.storage);
      await recordMeasures(db, row, await measureRepository(folder), counted);
    }
  } finally {
    await lease.release();
  }
}

/** One after the other, within the time of a run; a repository that fails does not stop the others. */
async function inTurn(
  services: Needs<'database' | 'repositories' | 'log'>,
  rows: readonly RepositoryRow[],
  work: (services: Needs<'database' | 'repositories' | 'log'>, row: RepositoryRow) => Promise<void>,
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
export function housekeepingTasks(services: Needs<'database' | 'repositories' | 'log'>): {
  repack(): Promise<void>;
  measure(): Promise<void>;
} {
  const db = services.database.background;
  return {
    repack: alone(async () => inTurn(services, await toRepack(db).execute(), repack)),
    measure: alone(async () =>
      inTurn(services, await toMeasure(db).execute(), (needs, row) => measure(needs, [row])),
    ),
  };
}
