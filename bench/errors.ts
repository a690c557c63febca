/** The figures of error tracking: reports of 50 KB taken and digested, and what other requests feel of it. */
import { setTimeout as sleep } from 'node:timers/promises';
import { gzipSync } from 'node:zlib';
import autocannon from 'autocannon';
import { type Program, ROOT_TOKEN, startProgram } from '../test/journeys/support.ts';
import { metric } from './processes.ts';
import type { Figure } from './table.ts';

const PROJECTS = 8;
const CONNECTIONS = 16;
const SECONDS = 15;
/** Reports a second that are to be taken, and half of which are to be digested meanwhile. */
const RATE = 1_000;
/** Of one report, unpacked. */
const REPORT_BYTES = 50_000;
const KINDS = 64;

/** A source of numbers that is the same in each run. */
function numbers(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}

/** An event as an SDK sends it: frames with the lines around them and their variables, breadcrumbs, a request. */
function eventOf(kind: number): string {
  const random = numbers(kind);
  const word = () => Math.floor(random() * 36 ** 6).toString(36);
  const line = () => `    const ${word()} = await ${word()}(${word()}, ${word()}.${word()});`;
  const frame = (index: number) => ({
    filename: `app/${word()}.js`,
    abs_path: `/srv/app/${word()}.js`,
    function: `step${index}_of_${kind}`,
    module: `app.module${index}`,
    lineno: 10 + index,
    in_app: index % 3 === 0,
    pre_context: [line(), line(), line()],
    context_line: line(),
    post_context: [line(), line(), line()],
    vars: { order: word(), customer: word(), password: word() },
  });
  const event = {
    platform: 'node',
    level: 'error',
    release: 'shop@1.2.3',
    environment: 'production',
    user: { id: String(Math.floor(random() * 1_000)) },
    tags: { region: word(), server: `web-${kind % 5}` },
    request: {
      url: `https://shop.example.com/orders/${word()}`,
      method: 'POST',
      headers: { 'user-agent': word() },
    },
    exception: {
      values: [
        {
          type: `Fault${kind}`,
          value: `the order ${word()} cannot be taken`,
          stacktrace: { frames: Array.from({ length: 40 }, (_, index) => frame(index)) },
        },
      ],
    },
    breadcrumbs: [] as object[],
  };
  while (JSON.stringify(event).length < REPORT_BYTES)
    event.breadcrumbs.push(
      ...Array.from({ length: 10 }, () => ({
        timestamp: 1_700_000_000 + random(),
        category: 'http',
        message: `GET /${word()}/${word()}`,
        data: { status: 200, id: word() },
      })),
    );
  return JSON.stringify(event);
}

/** The reports are packed once, but for their beginnings, each with an id of its own: gzip takes one part after the other. */
function reports(): () => Buffer {
  const rests = Array.from({ length: KINDS }, (_, kind) => gzipSync(`{"type":"event"}\n${eventOf(kind)}\n`));
  let made = 0;
  return () => {
    const id = (++made).toString(16).padStart(32, '0');
    return Buffer.concat([gzipSync(`{"event_id":"${id}"}\n`), rests[made % KINDS] ?? Buffer.alloc(0)]);
  };
}

/** Projects that take reports: the path at which each does. */
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

/** Sends reports for some seconds, as fast as they are taken or at a given rate; throws when one is refused. */
async function send(
  program: Program,
  paths: readonly string[],
  report: () => Buffer,
  seconds: number,
  rate?: number,
): Promise<Sent> {
  let next = 0;
  const result = await autocannon({
    url: program.url,
    connections: CONNECTIONS,
    duration: seconds,
    ...(rate !== undefined && { overallRate: Math.floor(rate) }),
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

const waiting = (program: Program): Promise<number> => metric(program.url, 'error_spool_rows');

async function digestAll(program: Program): Promise<void> {
  for (let waited = 0; waited < 1_200; waited++) {
    if ((await waiting(program)) === 0) return;
    await sleep(100);
  }
  throw new Error('reports wait for two minutes');
}

/** What all errors of the projects count. */
async function counted(program: Program, ids: readonly number[]): Promise<number> {
  let sum = 0;
  for (const id of ids) {
    const answer = await program.root(`GET /projects/${id}/error_tracking/errors?per_page=100`);
    for (const error of (await answer.json()) as { events_count: number }[]) sum += error.events_count;
  }
  return sum;
}

/** The 99th percentile in milliseconds of one request after the other, until told to stop. */
async function latency(program: Program, until: Promise<unknown>): Promise<number> {
  const times: number[] = [];
  let over = false;
  void until.then(() => {
    over = true;
  });
  while (!over) {
    const begin = performance.now();
    const answer = await fetch(`${program.url}/api/v4/projects/1`, {
      headers: { 'private-token': ROOT_TOKEN },
    });
    await answer.arrayBuffer();
    times.push(performance.now() - begin);
    await sleep(5);
  }
  return times.toSorted((left, right) => left - right)[Math.floor(times.length * 0.99)] ?? Number.NaN;
}

/** Reports taken and digested a second, that none is lost, and what other requests feel. */
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

  const steady = await send(program, paths, report, SECONDS, RATE);
  const backlog = await waiting(program);
  accepted += steady.accepted;
  await digestAll(program);
  const digested = (steady.accepted - backlog) / SECONDS;

  const quiet = await latency(program, sleep(SECONDS * 1_000));
  const half = taken.rate / 2;
  const sending = send(program, paths, report, SECONDS, half);
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
      // The answers to the last of each connection are not waited for.
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
