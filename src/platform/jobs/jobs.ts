/** Work with retry and back-off, and work by the clock, by graphile-worker on the same database. */
import { Logger, parseCronItems, run, runMigrations } from 'graphile-worker';
import { Pool } from 'pg';
import { type ConnectionTarget, connectionTo } from '../db/database.ts';
import { createLog, type Log } from '../log.ts';

/** A task: gets the payload that was written, and must be safe to run twice. */
export type Task = (payload: Record<string, unknown>) => Promise<void>;
export type Tasks = Record<string, Task>;

/** Runs a task at the times of a cron pattern (UTC), once over all processes. */
export type Schedule = { task: string; pattern: string };

export type Workers = { stop(): Promise<void> };

/**
 * The library's driver needs a pool of its own, and somebody who hears its errors: a connection that the server ends
 * while it is idle must not end the program.
 */
function openPool(target: ConnectionTarget, log: Log): Pool {
  const to = connectionTo(target);
  const options = typeof to === 'string' ? { connectionString: to } : to;
  const pool = new Pool({ ...options, max: 4 });
  const hear = (error: Error) => log.info('connection of the workers ended', { error: error.message });
  pool.on('error', hear);
  pool.on('connect', (client) => client.on('error', hear));
  return pool;
}

const silent = new Logger(() => () => {});

/** Makes or updates the worker's own tables; call it under the migration lock. */
export async function migrateJobs(target: ConnectionTarget): Promise<void> {
  const pgPool = openPool(
    target,
    createLog(() => {}),
  );
  try {
    await runMigrations({ pgPool, logger: silent });
  } finally {
    await pgPool.end();
  }
}

/** Starts this process's workers; failures are logged, and tried again with back-off by the library. */
export async function startWorkers(
  target: ConnectionTarget,
  tasks: Tasks,
  schedules: readonly Schedule[],
  log: Log,
): Promise<Workers> {
  const pgPool = openPool(target, log);
  const runner = await run({
    pgPool,
    concurrency: 2,
    pollInterval: 1_000,
    noHandleSignals: true,
    logger: silent,
    parsedCronItems: parseCronItems(
      schedules.map(({ task, pattern }) => ({ task, match: pattern, identifier: task })),
    ),
    taskList: Object.fromEntries(
      Object.entries(tasks).map(([name, task]) => [
        name,
        async (payload: unknown) => {
          try {
            await task((payload ?? {}) as Record<string, unknown>);
          } catch (error) {
            log.error('job failed', error, { task: name });
            throw error;
          }
        },
      ]),
    ),
  });
  return {
    async stop() {
      await runner.stop();
      await pgPool.end();
    },
  };
}
