/** Facts: written with the change, heard after the commit, at least once. The relay turns them into their listeners' jobs. */
import { AsyncResource } from 'node:async_hooks';
import { setTimeout as sleep } from 'node:timers/promises';
import { sql } from 'kysely';
import { type Db, inTransaction } from '../db/database.ts';
import type { Json } from '../db/rows.ts';
import { addJobs, type NewJob } from '../jobs/jobs.ts';
import type { Log } from '../log.ts';

export type Fact = { name: string; payload: Record<string, Json> };

/** A statement that writes the facts of a select (name, payload, time), in the transaction of what they tell. */
export const insertFacts = (select: string): string =>
  `insert into outbox (fact, payload, created_at) ${select}`;

/** Which task hears which fact, told when as `fact_at`. A task must be idempotent by `fact_id`. */
export type Listener = {
  fact: string;
  task: string;
  /** Whether there is anything to do about this one; always, without it. What nobody does costs no job. */
  when?: (payload: Readonly<Record<string, Json>>) => boolean | Promise<boolean>;
  /** Facts of a project are heard one after the other, unless their order is all the same. */
  anyOrder?: true;
  /** Beside the others, where those that are slow must not hold them up. */
  queue?: string;
};

export type Relay = {
  /** Something may have been committed: look soon. */
  wake(): void;
  /** Facts not yet handed on, as last seen. */
  waiting(): number;
  stop(): Promise<void>;
};

const BATCH = 200;
const POLL_INTERVAL_MS = 1_000;
/** So long the relay waits for more: under load, facts travel by the hundred and not each by its own transaction. */
const GATHER_MS = 20;

const QUEUES = 16;
/** Of many projects the same. */
const queueOf = (projectId: number, queue = 'projects'): string => `${queue} ${projectId % QUEUES}`;

type OutboxRow = { id: number; fact: string; payload: Json; created_at: Date };

/** The jobs of the facts. Those that a task hears one after the other in its queue are one job. */
async function jobsOf(facts: readonly OutboxRow[], listeners: readonly Listener[]): Promise<NewJob[]> {
  const jobs: NewJob[] = [];
  const latest = new Map<string, { task: string; payload: Record<string, Json>[] }>();
  for (const { id, fact, payload: told, created_at } of facts) {
    // The payload of a Fact is an object.
    const payload = told as Record<string, Json> & { project_id?: number };
    const heard = { ...payload, fact_id: id, fact_at: created_at.toISOString() };
    for (const { fact: name, task, when, anyOrder, queue: beside } of listeners) {
      if (name !== fact) continue;
      const isWanted = when?.(payload) ?? true;
      if (isWanted !== true && !(await isWanted)) continue;
      if (payload.project_id === undefined || anyOrder) {
        jobs.push({ task, payload: heard });
        continue;
      }
      const queue = queueOf(payload.project_id, beside);
      const last = latest.get(queue);
      if (last?.task === task) {
        last.payload.push(heard);
        continue;
      }
      const job = { task, queue, payload: [heard] };
      latest.set(queue, job);
      jobs.push(job);
    }
  }
  return jobs;
}

/** Moves up to one batch of facts into jobs, in the order of facts; facts of one project stay in one queue. */
async function relayBatch(db: Db, listeners: readonly Listener[]): Promise<number> {
  return inTransaction(db, async (tx) => {
    // Gone with the commit that adds the jobs. Of what another relay holds nothing is seen.
    const { rows } = await sql<OutboxRow>`
      delete from outbox where id = any(array(select id from outbox order by id limit ${BATCH} for update skip locked))
      returning id, fact, payload, created_at`.execute(tx);
    const facts = rows.toSorted((one, other) => one.id - other.id);
    if (facts.length === 0) return 0;
    await addJobs(tx, await jobsOf(facts, listeners));
    return facts.length;
  });
}

/** Hands on all facts that wait, in a program that does not serve. */
export async function relayAll(db: Db, listeners: readonly Listener[]): Promise<void> {
  while ((await relayBatch(db, listeners)) > 0);
}

/** Starts the relay of this process. Several processes may run one each: rows are locked, and skipped when they are. */
export function startRelay(db: Db, listeners: readonly Listener[], log: Log): Relay {
  let stopped = false;
  let seen = 0;
  let running: Promise<void> | undefined;
  let again = false;

  async function drain(): Promise<void> {
    do {
      await sleep(GATHER_MS);
      // What was committed until now is seen by the next statement.
      again = false;
      seen = await relayBatch(db, listeners);
      while (!stopped && seen === BATCH) seen = await relayBatch(db, listeners);
    } while (!stopped && again);
    seen = 0;
  }
  // It works for nobody's request, whosoever wakes it.
  const wake = AsyncResource.bind((): void => {
    if (stopped) return;
    again = true;
    running ??= drain()
      .catch((error: unknown) => log.error('relay failed', error))
      .finally(() => {
        running = undefined;
      });
  });
  const timer = setInterval(wake, POLL_INTERVAL_MS);
  timer.unref();
  return {
    wake,
    waiting: () => seen,
    async stop() {
      stopped = true;
      clearInterval(timer);
      await running;
    },
  };
}
