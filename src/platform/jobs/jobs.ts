/** Work with retry and back-off, and work by the clock, by graphile-worker on the same database. */
import { Logger, parseCronItems, run, runMigrations } from 'graphile-worker';
import type { ConnectionTarget } from '../db/database.ts';
import type { Log } from '../log.ts';

/** A task: gets the payload that was written, and must be safe to run twice. */
export type Task = (payload: Record<string, unknown>) => Promise<void>;
export type Tasks = Record<string, Task>;

/** Runs a task at the times of a cron pattern (UTC), once over all processes. */
export type Schedule = { task: string; pattern: string };

export type Workers = { stop(): Promise<void> };

/** The target as the worker's own driver takes it. */
function connectionString(target: ConnectionTarget): string {
  if (typeof target === 'string') return target;
  const [user, password, database] = [target.user, target.password, target.database].map(encodeURIComponent);
  return `postgres://${user}:${password}@/${database}?host=${encodeURIComponent(target.host)}`;
}

const silent = new Logger(() => () => {});

/** Makes or updates the worker's own tables; call it under the migration lock. */
export const migrateJobs = (target: ConnectionTarget): Promise<void> =>
  runMigrations({ connectionString: connectionString(target), logger: silent });

/** Starts this process's workers; failures are logged, and tried again with back-off by the library. */
export async function startWorkers(
  target: ConnectionTarget,
  tasks: Tasks,
  schedules: readonly Schedule[],
  log: Log,
): Promise<Workers> {
  const runner = await run({
    connectionString: connectionString(target),
    maxPoolSize: 4,
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
  return { stop: () => runner.stop() };
}
