/**
 * The figures of error tracking: reports of 50 KB taken and digested, and the latency of other requests
 * meanwhile.
 */
import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import autocannon from 'autocannon';
import { type Program, ROOT_TOKEN, startProgram } from '../test/journeys/support.ts';
import { metric } from './processes.ts';
import type { Steady } from './report-sender.ts';
import { reports } from './reports.ts';
import type { Figure } from './table.ts';

const PROJECTS = 8;
const CONNECTIONS = 16;
const SECONDS = 15;
/** Reports a second to be taken, and half of which are to be digested meanwhile. */
const RATE = 1_000;

/** Projects that take reports, with the path of each. */
async function makeCollectors(program: Program): Promise<{ ids: number[]; paths: string[] }> {
  const ids: number[] = [];
  const paths: string[] = [];
  for (let made = 1; made <= PROJECTS; made++) {
    const project = await program.root('POST /projects', { name: `Errors ${made}` });
    const { id } = (await project.json()) as { id: number };
    await program.root(`PUT /projects/${id}/error_tracking/settings`, { active: true, integrated: true });
    const key = await program.root(`POST /projects/${id}/error_tracking/client_keys`);
    const { public_key } = (await key.json()) as { public_key: string };
    ids.push(id);
    paths.push(`/api/v4/error_tracking/collector/api/${id}/envelope/?sentry_key=${public_key}`);
  }
  return { ids, paths };
}

type Sent = { accepted: number; rate: number };

/** Sends reports for some seconds, as fast as they are taken; throws when one is refused. */
async function send(
  program: Program,
  paths: readonly string[],
  report: () => Buffer,
  seconds: number,
): Promise<Sent> {
  let next = 0;
  const result = await autocannon({
    url: program.url,
    connections: CONNECTIONS,
    duration: seconds,
    requests: [
      {
        method: 'POST',
        headers: { 'content-encoding': 'gzip', 'content-type': 'application/x-sentry-envelope' },
        setupRequest: (request) => ({ ...request, path: paths[next++ % paths.length], body: report() }),
      },
    ],
  });
  if (result.errors + result.non2xx > 0)
    throw new Error(`${result.errors} errors, ${result.non2xx} refusals of ${result.requests.total} reports`);
  return { accepted: result['2xx'], rate: result['2xx'] / result.duration };
}

const run = promisify(execFile);
/** Ids of reports that are sent as fast as they are taken are below it. */
const FIRST_STEADY = 10_000_000;

/**
 * Sends them evenly, at a given rate, from a process of its own: autocannon would send each second's at its
 * beginning, and the measuring process must not wait for the sender.
 */
async function sendSteadily(
  program: Program,
  paths: readonly string[],
  rate: number,
  round: number,
): Promise<Sent> {
  const order: Steady = {
    url: program.url,
    paths,
    rate,
    seconds: SECONDS,
    connections: CONNECTIONS,
    first: round * FIRST_STEADY,
  };
  const { stdout } = await run(process.execPath, [
    join(import.meta.dirname, 'report-sender.ts'),
    JSON.stringify(order),
  ]);
  const { accepted, seconds } = JSON.parse(stdout) as { accepted: number; seconds: number };
  return { accepted, rate: accepted / seconds };
}

const waiting = (program: Program): Promise<number> => metric(program.url, 'error_spool_rows');

async function digestAll(program: Program): Promise<void> {
  for (let waited = 0; waited < 1_200; waited++) {
    if ((await waiting(program)) === 0) return;
    await sleep(100);
  }
  throw new Error('reports wait for two minutes');
}

/** The sum of the counts of all errors of the projects. */
async function counted(program: Program, ids: readonly number[]): Promise<number> {
  let sum = 0;
  for (const id of ids) {
    const response = await program.root(`GET /projects/${id}/error_tracking/errors?per_page=100`);
    for (const error of (await response.json()) as { events_count: number }[]) sum += error.events_count;
  }
  return sum;
}

/** The 99th percentile in milliseconds of one request after the other, until stopped. */
async function latency(program: Program, until: Promise<unknown>): Promise<number> {
  const times: number[] = [];
  let over = false;
  void until.then(() => {
    over = true;
  });
  while (!over) {
    const begin = performance.now();
    const response = await fetch(`${program.url}/api/v4/projects/1`, {
      headers: { 'private-token': ROOT_TOKEN },
    });
    await response.arrayBuffer();
    times.push(performance.now() - begin);
    await sleep(5);
  }
  return times.toSorted((left, right) => left - right)[Math.floor(times.length * 0.99)] ?? Number.NaN;
}

/** Reports taken and digested a second, that none is lost, and the latency of other requests. */
export async function measureErrors(): Promise<Figure[]> {
  const program = await startProgram();
  await program.root('PUT /application/settings', {
    throttle_authenticated_api_enabled: false,
    throttle_unauthenticated_api_enabled: false,
  });
  const { ids, paths } = await makeCollectors(program);
  const report = reports();
  let accepted = (await send(program, paths, report, 8)).accepted;
  await digestAll(program);

  const taken = await send(program, paths, report, SECONDS);
  accepted += taken.accepted;
  await digestAll(program);

  const steady = await sendSteadily(program, paths, RATE, 1);
  const backlog = await waiting(program);
  accepted += steady.accepted;
  await digestAll(program);
  const digested = (steady.rate * (steady.accepted - backlog)) / steady.accepted;

  const quiet = await latency(program, sleep(SECONDS * 1_000));
  const half = taken.rate / 2;
  const sending = sendSteadily(program, paths, half, 2);
  const busy = await latency(program, sending);
  accepted += (await sending).accepted;
  await digestAll(program);
  const kept = await counted(program, ids);
  await program.stop();
  return [
    {
      what: 'reports of 50 KB taken durably, on two cores with their sender',
      value: `${taken.rate.toFixed(0)}/s`,
      baseline: '',
      result: `${taken.rate.toFixed(0)}/s`,
      target: `≥ ${RATE}/s`,
      met: taken.rate >= RATE,
    },
    {
      what: `digested while ${RATE}/s are sent`,
      value: `${digested.toFixed(0)}/s`,
      baseline: `${steady.rate.toFixed(0)}/s (taken)`,
      result: `${digested.toFixed(0)}/s`,
      target: `≥ ${RATE / 2}/s`,
      met: digested >= RATE / 2,
    },
    {
      what: 'counted in errors, when all is digested',
      value: `${kept}`,
      baseline: `${accepted} (taken)`,
      result: `${((kept / accepted) * 100).toFixed(2)} %`,
      target: '≥ 100 %',
      // The last response of each connection is not awaited.
      met: kept >= accepted && kept <= accepted + 3 * CONNECTIONS,
    },
    {
      what: `p99 of GET /projects/1 at ${half.toFixed(0)} reports/s`,
      value: `${busy.toFixed(1)} ms`,
      baseline: `${quiet.toFixed(1)} ms (quiet)`,
      result: `${(busy / quiet).toFixed(2)}×`,
      target: '< 3×',
      met: busy / quiet < 3,
    },
  ];
}
