/** The queue of jobs in the words of public clients, which take it for that of another program (facts-packages: 7.1). */
import { hostname } from 'node:os';
import Type, { type Static } from 'typebox';
import { onInstance } from '../../kernel/access/access.ts';
import { type Endpoint, endpoint } from '../../kernel/api/endpoint.ts';
import { now } from '../../platform/clock.ts';
import type { Db } from '../../platform/db/database.ts';
import { CONCURRENCY, countWaiting, jobsDone } from '../../platform/jobs/jobs.ts';
import { countBusy, selectBacklogs } from '../../platform/jobs/waiting-jobs.ts';

const Queues = Type.Object({
  queues: Type.Record(
    Type.String(),
    Type.Object({
      backlog: Type.Integer({ description: 'Jobs that are due.' }),
      latency: Type.Integer({ description: 'Seconds for which the oldest of them is.' }),
    }),
  ),
});
const Processes = Type.Object({
  processes: Type.Array(
    Type.Object({
      hostname: Type.String(),
      pid: Type.Integer(),
      tag: Type.String(),
      started_at: Type.String(),
      queues: Type.Array(Type.String()),
      labels: Type.Array(Type.String()),
      concurrency: Type.Integer(),
      busy: Type.Integer({ description: 'Jobs that are worked at, by all processes.' }),
    }),
  ),
});
const Jobs = Type.Object({
  jobs: Type.Object({
    processed: Type.Integer({ description: 'By this process, since its start.' }),
    failed: Type.Integer({ description: 'Of these.' }),
    enqueued: Type.Integer(),
    dead: Type.Integer({ description: 'Those that failed too often.' }),
  }),
});
const All = Type.Object({ ...Queues.properties, ...Processes.properties, ...Jobs.properties });

async function queues(db: Db): Promise<Static<typeof Queues>> {
  const rows = await selectBacklogs(db);
  return { queues: Object.fromEntries(rows.map(({ task, ...counts }) => [task, counts])) };
}

async function processes(db: Db): Promise<Static<typeof Processes>> {
  const startedAt = new Date(now().getTime() - process.uptime() * 1_000);
  const own = {
    hostname: hostname(),
    pid: process.pid,
    tag: 'ashlar',
    started_at: startedAt.toISOString(),
    queues: [...jobsDone.tasks],
    labels: [],
    concurrency: CONCURRENCY,
    busy: await countBusy(db),
  };
  return { processes: [own] };
}

async function jobs(db: Db): Promise<Static<typeof Jobs>> {
  const waiting = await countWaiting(db);
  const { processed, failed } = jobsDone;
  return { jobs: { processed, failed, enqueued: waiting?.jobs ?? 0, dead: waiting?.dead_jobs ?? 0 } };
}

export const jobMetricEndpoints: Endpoint[] = [
  endpoint({
    method: 'GET',
    path: '/sidekiq/queue_metrics',
    summary: 'Jobs that are due, by their task.',
    access: onInstance,
    reply: Queues,
    handle: async ({ db }) => queues(db),
  }),
  endpoint({
    method: 'GET',
    path: '/sidekiq/process_metrics',
    summary: 'The process that works at jobs and answers this.',
    access: onInstance,
    reply: Processes,
    handle: async ({ db }) => processes(db),
  }),
  endpoint({
    method: 'GET',
    path: '/sidekiq/job_stats',
    summary: 'How many jobs were done, failed, and wait.',
    access: onInstance,
    reply: Jobs,
    handle: async ({ db }) => jobs(db),
  }),
  endpoint({
    method: 'GET',
    path: '/sidekiq/compound_metrics',
    summary: 'Queues, processes and jobs at once.',
    access: onInstance,
    reply: All,
    handle: async ({ db }) => ({ ...(await queues(db)), ...(await processes(db)), ...(await jobs(db)) }),
  }),
];
