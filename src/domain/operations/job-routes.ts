/** What waits for the workers, under the names that clients know (facts for packages: Sidekiq metrics). */
import Type from 'typebox';
import { onInstance } from '../../kernel/access/access.ts';
import { type Endpoint, endpoint } from '../../kernel/api/endpoint.ts';
import type { Db } from '../../platform/db/database.ts';
import { dateTime } from '../../platform/http/parameters/schema.ts';
import { queueMetrics, workingProcesses } from '../../platform/jobs/job-metrics.ts';
import { countWaiting, JOBS_AT_ONCE, type Workers } from '../../platform/jobs/jobs.ts';

const queues = Type.Record(
  Type.String(),
  Type.Object({
    backlog: Type.Integer({ description: 'Jobs that could run now.' }),
    latency: Type.Integer({ description: 'Seconds for which the oldest of them waits.' }),
  }),
  { description: 'By the first word of the tasks.' },
);
const processes = Type.Array(
  Type.Object({
    hostname: Type.String(),
    pid: Type.Integer(),
    tag: Type.String(),
    started_at: dateTime(),
    queues: Type.Array(Type.String()),
    labels: Type.Array(Type.String()),
    concurrency: Type.Integer(),
    busy: Type.Integer({ description: 'Jobs that it is at.' }),
  }),
);
const jobs = Type.Object({
  processed: Type.Integer({ description: 'Of the process that answers, since it started.' }),
  failed: Type.Integer({ description: 'The same.' }),
  enqueued: Type.Integer(),
  dead: Type.Integer({ description: 'Jobs whose attempts are used up.' }),
});

export type FinishedJobs = () => ReturnType<Workers['finished']>;

/** The endpoint of all of it, and those of the parts. */
export function jobEndpoints(finished: FinishedJobs) {
  const readQueues = async (db: Db) => ({ queues: await queueMetrics(db) });
  async function readProcesses(db: Db) {
    const [working, names] = await Promise.all([workingProcesses(db), queueMetrics(db)]);
    return {
      processes: working.map(({ host, pid, started_at, busy }) => ({
        hostname: host,
        pid,
        tag: 'ashlar',
        started_at: started_at.toISOString(),
        queues: Object.keys(names),
        labels: [],
        concurrency: JOBS_AT_ONCE,
        busy,
      })),
    };
  }
  async function readJobs(db: Db) {
    const waiting = await countWaiting(db);
    return { jobs: { ...finished(), enqueued: waiting?.jobs ?? 0, dead: waiting?.dead_jobs ?? 0 } };
  }
  const path = '/sidekiq';
  const all = endpoint({
    method: 'GET',
    path: `${path}/compound_metrics`,
    summary: 'Queues, processes and jobs at once.',
    access: onInstance,
    reply: Type.Object({ queues, processes, jobs }),
    handle: async ({ db }) => {
      const parts = await Promise.all([readQueues(db), readProcesses(db), readJobs(db)]);
      return Object.assign({}, ...parts);
    },
  });
  const parts: Endpoint[] = [
    endpoint({
      method: 'GET',
      path: `${path}/queue_metrics`,
      summary: 'How much waits for the workers.',
      access: onInstance,
      reply: Type.Object({ queues }),
      handle: ({ db }) => readQueues(db),
    }),
    endpoint({
      method: 'GET',
      path: `${path}/process_metrics`,
      summary: 'The processes that work.',
      access: onInstance,
      reply: Type.Object({ processes }),
      handle: ({ db }) => readProcesses(db),
    }),
    endpoint({
      method: 'GET',
      path: `${path}/job_stats`,
      summary: 'How many jobs wait, were done and have failed.',
      access: onInstance,
      reply: Type.Object({ jobs }),
      handle: ({ db }) => readJobs(db),
    }),
  ];
  return { all, parts };
}
