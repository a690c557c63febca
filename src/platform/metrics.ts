/** What is measured of the running program, as Prometheus text. */
import { Counter, Gauge, Histogram, Registry } from 'prom-client';
import type { PoolUse } from './db/driver/dialect.ts';
import type { Observation } from './http/server/server.ts';
import type { Waiting } from './jobs/jobs.ts';
import { freeBytes } from './machine/disk.ts';

type Reading = { labels: Record<string, string>; value: number };

/** What is read when somebody asks; labels that are read no more are gone. A name that ends with `_total` is a counter's. */
export type ReadGauge = {
  name: string;
  help: string;
  labels: readonly string[];
  read(): Reading[] | Promise<Reading[]>;
};

export type Metrics = {
  observe(observation: Observation): void;
  /** Shows one more. */
  add(gauge: ReadGauge): void;
  text(): Promise<string>;
};

/** Where the gauges look when somebody asks. */
export type MetricSources = {
  pools(): PoolUse[];
  inFlight(): number;
  eventLoopDelay(): number;
  longestEventLoopDelay(): number;
  /** What waits, and for how long; undefined while the database does not answer. */
  waiting(): Promise<Waiting | undefined>;
  finishedJobs(): { processed: number; failed: number };
  /** Those that the program writes to. */
  folders: readonly string[];
};

export function createMetrics(sources: MetricSources): Metrics {
  const registry = new Registry();
  const registers = [registry];
  const requests = new Counter({
    name: 'http_requests_total',
    help: 'Requests answered, by method, route and status.',
    labelNames: ['method', 'route', 'status'],
    registers,
  });
  const latency = new Histogram({
    name: 'http_request_duration_seconds',
    help: 'Time from the request line to the answer.',
    buckets: [0.002, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10],
    registers,
  });
  const add = ({ name, help, labels, read }: ReadGauge): void => {
    const common = { name, help, labelNames: [...labels], registers };
    if (name.endsWith('_total')) {
      const own: Counter = new Counter({
        ...common,
        async collect() {
          const readings = await read();
          own.reset();
          for (const each of readings) own.inc(each.labels, each.value);
        },
      });
      return;
    }
    const own: Gauge = new Gauge({
      ...common,
      async collect() {
        const readings = await read();
        own.reset();
        for (const each of readings) own.set(each.labels, each.value);
      },
    });
  };
  const addOne = (name: string, help: string, read: () => number): void =>
    add({ name, help, labels: [], read: () => [{ labels: {}, value: read() }] });
  const addOfPools = (name: string, help: string, read: (pool: PoolUse) => number): void =>
    add({
      name,
      help,
      labels: ['pool'],
      read: () => sources.pools().map((pool) => ({ labels: { pool: pool.name }, value: read(pool) })),
    });

  addOne('http_requests_in_flight', 'Requests being answered.', sources.inFlight);
  addOne(
    'event_loop_delay_seconds',
    'Median delay of the event loop since this was read last.',
    sources.eventLoopDelay,
  );
  addOne(
    'event_loop_delay_max_seconds',
    'Longest delay of the event loop since this was read last.',
    sources.longestEventLoopDelay,
  );
  addOne('process_resident_memory_bytes', 'Memory of this process.', () => process.memoryUsage.rss());
  addOne('process_cpu_seconds_total', 'Time of the processors that this process has used.', () => {
    const { user, system } = process.cpuUsage();
    return (user + system) / 1e6;
  });
  const startedAt = performance.timeOrigin / 1e3;
  addOne('process_start_time_seconds', 'When this process started, since 1970.', () => startedAt);
  addOfPools('database_pool_size', 'Connections a pool may open.', ({ size }) => size);
  addOfPools(
    'database_statements_total',
    'Statements sent through a pool since the start.',
    ({ statements }) => statements,
  );
  addOfPools(
    'database_statement_seconds_total',
    'Time that the statements of a pool took together since the start.',
    ({ milliseconds }) => milliseconds / 1e3,
  );
  let waiting: Promise<Waiting | undefined> | undefined;
  /** One statement for both gauges, which are read at the same time. */
  const readWaiting = (): Promise<Waiting | undefined> => {
    waiting ??= sources.waiting().finally(() => {
      waiting = undefined;
    });
    return waiting;
  };
  const addWaiting = (name: string, help: string, values: (found: Waiting) => Record<string, number>): void =>
    add({
      name,
      help,
      labels: ['kind'],
      async read() {
        const found = await readWaiting();
        return Object.entries(found ? values(found) : {}).map(([kind, value]) => ({
          labels: { kind },
          value,
        }));
      },
    });
  addWaiting(
    'waiting',
    'Work that waits: facts in the outbox, jobs in the queue, dead jobs for somebody to look.',
    ({ outbox, jobs, dead_jobs }) => ({ outbox, jobs, dead_jobs }),
  );
  addWaiting(
    'waiting_oldest_seconds',
    'How long the oldest fact has been waiting, and the oldest job that could run.',
    ({ outbox_seconds, jobs_seconds }) => ({ outbox: outbox_seconds, jobs: jobs_seconds }),
  );
  add({
    name: 'jobs_finished_total',
    help: 'Runs of jobs in this process since its start, by how they ended.',
    labels: ['outcome'],
    read() {
      const { processed, failed } = sources.finishedJobs();
      return [
        { labels: { outcome: 'done' }, value: processed },
        { labels: { outcome: 'failed' }, value: failed },
      ];
    },
  });
  add({
    name: 'disk_free_bytes',
    help: 'Free space where a folder is.',
    labels: ['folder'],
    async read() {
      const free = await Promise.all(
        sources.folders.map(async (folder) => ({ folder, bytes: await freeBytes(folder) })),
      );
      return free.flatMap(({ folder, bytes }) =>
        bytes === undefined ? [] : [{ labels: { folder }, value: bytes }],
      );
    },
  });
  return {
    observe({ method, route, status, seconds }) {
      requests.inc({ method, route, status });
      latency.observe(seconds);
    },
    add,
    text: () => registry.metrics(),
  };
}
