/** What is measured of the running program, as Prometheus text. */
import { Counter, Gauge, Histogram, Registry } from 'prom-client';
import type { PoolUse } from './db/driver/dialect.ts';
import type { Observation } from './http/server/server.ts';

type Reading = { labels: Record<string, string>; value: number };

/** A gauge that is read when somebody asks; labels that are read no more are gone. */
export type ReadGauge = {
  name: string;
  help: string;
  labels: readonly string[];
  read(): Reading[] | Promise<Reading[]>;
};

export type Metrics = {
  observe(observation: Observation): void;
  /** Shows one more gauge. */
  add(gauge: ReadGauge): void;
  text(): Promise<string>;
};

/** Where the gauges look when somebody asks. */
export type MetricSources = {
  pools(): PoolUse[];
  inFlight(): number;
  eventLoopDelay(): number;
  longestEventLoopDelay(): number;
  /** Facts and jobs that wait, and jobs that failed too often; undefined while the database does not answer. */
  waiting(): Promise<{ outbox: number; jobs: number; dead_jobs: number } | undefined>;
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
  const gauge = (
    name: string,
    help: string,
    labelNames: string[],
    collect: (gauge: Gauge) => void | Promise<void>,
  ) =>
    new Gauge({
      name,
      help,
      labelNames,
      registers,
      collect() {
        return collect(this as Gauge);
      },
    });
  gauge('http_requests_in_flight', 'Requests being answered.', [], (own) => own.set(sources.inFlight()));
  gauge('event_loop_delay_seconds', 'Median delay of the event loop since this was read last.', [], (own) =>
    own.set(sources.eventLoopDelay()),
  );
  gauge(
    'event_loop_delay_max_seconds',
    'Longest delay of the event loop since this was read last.',
    [],
    (own) => own.set(sources.longestEventLoopDelay()),
  );
  gauge('process_resident_memory_bytes', 'Memory of this process.', [], (own) =>
    own.set(process.memoryUsage.rss()),
  );
  gauge('database_pool_size', 'Connections a pool may open.', ['pool'], (own) => {
    for (const pool of sources.pools()) own.set({ pool: pool.name }, pool.size);
  });
  gauge('database_statements', 'Statements sent through a pool since the start.', ['pool'], (own) => {
    for (const pool of sources.pools()) own.set({ pool: pool.name }, pool.statements);
  });
  gauge(
    'waiting',
    'Work that waits: facts in the outbox, jobs in the queue, dead jobs for somebody to look.',
    ['kind'],
    async (own) => {
      const waiting = await sources.waiting();
      if (!waiting) return;
      own.set({ kind: 'outbox' }, waiting.outbox);
      own.set({ kind: 'jobs' }, waiting.jobs);
      own.set({ kind: 'dead_jobs' }, waiting.dead_jobs);
    },
  );
  return {
    observe({ method, route, status, seconds }) {
      requests.inc({ method, route, status });
      latency.observe(seconds);
    },
    add({ name, help, labels, read }) {
      gauge(name, help, [...labels], async (own) => {
        const readings = await read();
        own.reset();
        for (const each of readings) own.set(each.labels, each.value);
      });
    },
    text: () => registry.metrics(),
  };
}
