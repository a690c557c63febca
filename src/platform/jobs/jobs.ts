/** Work with retry and back-off, and work by the clock, by graphile-worker on the same database. */
import { EventEmitter } from 'node:events';
import {
  type JobHelpers,
  Logger,
  parseCronItems,
  run,
  runMigrations,
  type Worker,
  type WorkerEvents,
} from 'graphile-worker';
import { CompiledQuery, type RawBuilder, sql } from 'kysely';
import { monotonic } from '../clock.ts';
import { type ConnectionTarget, type Db, inTransaction, openWorkersPool, sendAhead } from '../db/database.ts';
import type { Presence } from '../db/processes.ts';
import { createLog, type Log } from '../log.ts';
import { releaseDead, workersOf } from './dead-workers.ts';

/** A task: gets the payload that was written, and must be safe to run twice. */
export type Task = (payload: Record<string, unknown>) => Promise<void>;
export type Tasks = Record<string, Task>;

/** Runs a task at the times of a cron pattern (UTC), once over all processes. */
export type Schedule = { task: string; pattern: string };

export type Workers = {
  /** Runs of tasks by this process that ended, well and not, since it started. */
  finished(): { processed: number; failed: number };
  stop(): Promise<void>;
};

/** A connection that the server ends while it is idle must not end the program: the log says so. */
const openPool = (target: ConnectionTarget, log: Log) =>
  openWorkersPool(target, ({ message }) => log.info('connection of the workers ended', { error: message }));

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

/** A job to be added. */
export type NewJob = {
  task: string;
  /** Of a list, the task gets one after the other; each fails, and is tried again, for itself. */
  payload: Record<string, unknown> | Record<string, unknown>[];
  /** Jobs of one queue run one after the other. Of few names: whoever looks for a job locks all queues that are free. */
  queue?: string;
  /** Of jobs that wait under one key there is one: the last. */
  key?: string;
  /** The least goes first; zero unless told. */
  priority?: number;
  /** It does not run before they are over. */
  delaySeconds?: number;
};

/**
 * Adds the jobs by one statement, in the caller's transaction where there is one. Those of one queue run in this order: a
 * microsecond apart, since of the same time the library takes any.
 */
export async function addJobs(db: Db, jobs: readonly NewJob[]): Promise<void> {
  if (jobs.length > 0)
    await sendAhead(db, CompiledQuery.raw(INSERT_JOBS, [JSON.stringify(jobs), jobs.length]));
}

const INSERT_JOBS = `
  select count(*) from graphile_worker.add_jobs((
    select array_agg((task, payload, queue,
      now() + coalesce("delaySeconds", 0) * interval '1 second' - ($2::integer - place) * interval '1 microsecond',
      null, key, priority, null)::graphile_worker.job_spec order by place)
    from rows from (json_to_recordset($1::text::json)
      as (task text, payload json, queue text, key text, priority smallint, "delaySeconds" integer))
      with ordinality as job(task, payload, queue, key, priority, "delaySeconds", place)))`;

/** Facts and jobs that wait, jobs that failed too often, and seconds for which the oldest that could be done waits. */
export type Waiting = {
  outbox: number;
  outbox_seconds: number;
  jobs: number;
  jobs_seconds: number;
  dead_jobs: number;
};

export async function countWaiting(db: Db): Promise<Waiting | undefined> {
  const { rows } = await sql<Waiting>`
    select facts.outbox, ${secondsSince(sql`facts.oldest`)} as outbox_seconds,
      queue.jobs, ${secondsSince(sql`queue.oldest`)} as jobs_seconds, queue.dead_jobs
    from (select count(*) as outbox, min(created_at) as oldest from outbox) facts, (
      select count(*) filter (where attempts < max_attempts) as jobs,
        min(run_at) filter (where attempts < max_attempts and locked_at is null) as oldest,
        count(*) filter (where attempts >= max_attempts) as dead_jobs
      from graphile_worker.jobs) queue`.execute(db);
  return rows[0];
}

/** Zero for what is still to come. */
const secondsSince = (time: RawBuilder<unknown>) =>
  sql`greatest(coalesce(extract(epoch from clock_timestamp() - ${time}), 0), 0)::double precision`;

/**
 * Removes the queues in which nothing waits: the library keeps what it has ever heard of. The locks keep off whoever is
 * adding a job to one of them.
 */
export const removeEmptyQueues = (db: Db): Promise<void> =>
  inTransaction(db, async (tx) => {
    await sql`lock table graphile_worker._private_job_queues, graphile_worker._private_jobs in exclusive mode`.execute(
      tx,
    );
    await sql`
      delete from graphile_worker._private_job_queues q where q.locked_at is null
        and not exists (select from graphile_worker._private_jobs j where j.job_queue_id = q.id)`.execute(tx);
  });

/** Jobs that this process runs at once. */
export const JOBS_AT_ONCE = 2;

/** How often what dead processes held is looked for, in milliseconds. */
const RELEASE_INTERVAL_MS = 15_000;

/** Frees what dead processes held, now and from time to time; returns how to end that. */
async function keepReleasing(db: Db, log: Log): Promise<() => void> {
  await releaseDead(db);
  await removeEmptyQueues(db).catch((error: unknown) => log.error('empty queues stay', error));
  const timer = setInterval(() => {
    releaseDead(db).catch((error: unknown) => log.error('jobs of dead processes stay held', error));
  }, RELEASE_INTERVAL_MS);
  timer.unref();
  return () => clearInterval(timer);
}

/** Milliseconds after which a worker looks again for the next job of a queue, each once. */
const QUEUE_DELAYS_MS = [2, 10, 50];

/**
 * Has a worker that did a job of a queue look again when it finds none: the library asks for the next job before the queue
 * is free of the last one, and would wait for its poll, one job a second.
 */
function lookAgain(events: WorkerEvents): { stop(): void } {
  let isStopping = false;
  const looks = new WeakMap<Worker, number>();
  events.on('job:complete', ({ worker, job }) => {
    if (job.job_queue_id !== null) looks.set(worker, 0);
  });
  events.on('worker:getJob:empty', ({ worker }) => {
    const look = looks.get(worker);
    if (look === undefined) return;
    const delay = QUEUE_DELAYS_MS[look];
    if (delay === undefined) {
      looks.delete(worker);
      return;
    }
    looks.set(worker, look + 1);
    setTimeout(() => !isStopping && worker.nudge(), delay).unref();
  });
  return {
    stop() {
      isStopping = true;
    },
  };
}

/** Milliseconds after which a job begins no further payload: those it is done with run again where the process dies. */
const MAX_LIST_MS = 200;

/**
 * Runs the task with one payload after the other; the library tries those again whose promises are rejected. What is not
 * begun in time becomes a job of its own at the same place of the queue.
 */
async function runList(
  task: Task,
  payloads: readonly Record<string, unknown>[],
  { job, addJob, getQueueName }: JobHelpers,
): Promise<Promise<void>[]> {
  const until = monotonic() + MAX_LIST_MS;
  const runs: Promise<void>[] = [];
  for (const payload of payloads) {
    if (runs.length > 0 && monotonic() > until) break;
    const run = task(payload);
    runs.push(run);
    await run.catch(() => undefined);
  }
  const rest = payloads.slice(runs.length);
  if (rest.length === 0) return runs;
  const queueName = await getQueueName();
  await addJob(job.task_identifier, rest, { ...(queueName !== null && { queueName }), runAt: job.run_at });
  return [...runs, ...rest.map(async () => {})];
}

/**
 * Starts this process's workers; failures are logged, and tried again with back-off by the library. Of a process
 * that is named, what its workers hold is free soon after its death.
 */
export async function startWorkers(
  target: ConnectionTarget,
  tasks: Tasks,
  schedules: readonly Schedule[],
  log: Log,
  process?: { db: Db; presence: Presence },
): Promise<Workers> {
  await process?.presence.announce();
  const stopReleasing = process && (await keepReleasing(process.db, log));
  const pgPool = openPool(target, log);
  const events: WorkerEvents = new EventEmitter();
  events.on('pool:create', ({ workerPool }) => {
    if (process) workerPool.id = workersOf(process.presence.id);
  });
  const looking = lookAgain(events);
  const counts = { processed: 0, failed: 0 };
  events.on('job:success', () => {
    counts.processed += 1;
  });
  events.on('job:error', () => {
    counts.failed += 1;
  });
  const runner = await run({
    pgPool,
    events,
    concurrency: JOBS_AT_ONCE,
    pollInterval: 1_000,
    noHandleSignals: true,
    logger: silent,
    parsedCronItems: parseCronItems(
      schedules.map(({ task, pattern }) => ({ task, match: pattern, identifier: task })),
    ),
    taskList: Object.fromEntries(
      Object.entries(tasks).map(([name, task]) => {
        const logged: Task = async (payload) => {
          try {
            await task(payload);
          } catch (error) {
            log.error('job failed', error, { task: name });
            throw error;
          }
        };
        return [
          name,
          // A payload is as NewJob has it; the library writes an empty one itself.
          (payload: unknown, helpers: JobHelpers) =>
            Array.isArray(payload)
              ? runList(logged, payload, helpers)
              : logged((payload ?? {}) as Record<string, unknown>),
        ];
      }),
    ),
  });
  return {
    finished: () => counts,
    async stop() {
      stopReleasing?.();
      looking.stop();
      await runner.stop();
      await pgPool.end();
    },
  };
}
