/** The figures of CI: runners that poll, jobs handed out and finished, large pipelines, deep pages of jobs, and traces. */
import { setTimeout as sleep } from 'node:timers/promises';
import { Pool } from 'undici';
import { connect } from '../src/platform/db/database.ts';
import { encodeCursor } from '../src/platform/pagination/pagination.ts';
import { type Program, ROOT_TOKEN, startProgram } from '../test/journeys/support.ts';
import type { Payload } from '../test/support/hooks.ts';
import { databaseOf, withoutIndexes } from './database.ts';
import { compareLatency, median } from './measure.ts';
import { cpuTimeOf, memoryOf, workDone } from './processes.ts';
import { atMost, type Figure, ratioOf } from './table.ts';

const headers = { 'private-token': ROOT_TOKEN };

type Answer = { status: number; headers: Record<string, unknown>; body: Payload };
type Ask = (request: string, body?: unknown, own?: Record<string, string>) => Promise<Answer>;

/** Requests over connections that stay open; bytes are sent as they are. */
function opened(url: string, connections: number): { ask: Ask; close(): Promise<void> } {
  const pool = new Pool(url, { connections });
  return {
    async ask(request, body, own = headers) {
      const [method = 'GET', path = ''] = request.split(' ');
      const bytes = Buffer.isBuffer(body) ? body : undefined;
      const reply = await pool.request({
        method: method as 'GET',
        path: `/api/v4${path}`,
        headers: {
          ...own,
          ...(body !== undefined && { 'content-type': bytes ? 'text/plain' : 'application/json' }),
        },
        body: body === undefined ? null : (bytes ?? JSON.stringify(body)),
      });
      const text = await reply.body.text();
      const isJson = String(reply.headers['content-type'] ?? '').includes('json');
      return { status: reply.statusCode, headers: reply.headers, body: isJson ? JSON.parse(text) : {} };
    },
    close: () => pool.close(),
  };
}

async function made(ask: Ask, request: string, body: unknown): Promise<Payload> {
  const { status, body: answer } = await ask(request, body);
  if (status >= 300) throw new Error(`${request}: ${status} ${JSON.stringify(answer)}`);
  return answer;
}

async function open(): Promise<{ program: Program; ask: Ask; close(): Promise<void> }> {
  const program = await startProgram();
  const { ask, close } = opened(program.url, 64);
  await made(ask, 'PUT /application/settings', {
    throttle_authenticated_api_enabled: false,
    project_api_limit: 0,
  });
  return { program, ask, close };
}

const jobs = (count: number, more = ''): string =>
  Array.from(
    { length: count },
    (_, n) => `job ${n}:\n  stage: ${n % 2 ? 'test' : 'build'}\n  script: [make, make check]\n${more}`,
  ).join('');

/** A project whose pipelines have these jobs. */
async function projectWith(ask: Ask, name: string, file: string): Promise<number> {
  const { id } = await made(ask, 'POST /projects', { name, auto_cancel_pending_pipelines: 'disabled' });
  await made(ask, `POST /projects/${id}/repository/commits`, {
    branch: 'main',
    commit_message: 'Build [skip ci]',
    actions: [{ action: 'create', file_path: '.gitlab-ci.yml', content: file }],
  });
  return id;
}

const runnerOf = async (ask: Ask): Promise<string> =>
  (await made(ask, 'POST /user/runners', { runner_type: 'instance_type' })).token;

const begin = (ask: Ask, id: number): Promise<Payload> =>
  made(ask, `POST /projects/${id}/pipeline`, { ref: 'main' });

const LARGE = 1_000;

async function measureMaking({ program, ask }: { program: Program; ask: Ask }): Promise<Figure[]> {
  const id = await projectWith(ask, 'Large', jobs(LARGE));
  const times: number[] = [];
  let last = 0;
  for (let round = 0; round < 5; round++) {
    const start = performance.now();
    ({ id: last } = await begin(ask, id));
    times.push(performance.now() - start);
  }
  const pages: number[] = [];
  for (let round = 0; round < 20; round++) {
    const start = performance.now();
    await ask(`GET /projects/${id}/pipelines/${last}/jobs?per_page=100`);
    pages.push(performance.now() - start);
  }
  // As nobody sees it who is not signed in.
  await made(ask, `PUT /projects/${id}`, { visibility: 'public' });
  const shown: number[] = [];
  for (let round = 0; round < 20; round++) {
    const start = performance.now();
    const page = await fetch(`${program.url}/root/large/-/pipelines/${last}`);
    if (page.status !== 200 || !(await page.text()).includes('job 999'))
      throw new Error('the page is not there');
    shown.push(performance.now() - start);
  }
  await made(ask, `PUT /projects/${id}`, { builds_access_level: 'disabled' });
  return [
    atMost(`a pipeline of ${LARGE} jobs is made`, median(times), 1_000, 'ms'),
    atMost('a page of 100 of its jobs', median(pages), 200, 'ms'),
    atMost('its page for readers', median(shown), 200, 'ms'),
  ];
}

const RUNNERS = 200;
const POLL_MS = 3_000;
const POLLING_MS = 30_000;

/** Processes that use the token of one runner. */
const PROCESSES = 20;

/** Runners that ask every three seconds while nothing waits: what of a core they take, of program and database. */
async function measurePolling({ program, ask }: { program: Program; ask: Ask }): Promise<Figure[]> {
  const tokens: string[] = [];
  for (let runner = 0; runner < RUNNERS / PROCESSES; runner++) tokens.push(await runnerOf(ask));
  const figures: Figure[] = [];
  for (const waits of [false, true]) {
    const known = new Map<number, string>();
    const poll = async (runner: number): Promise<void> => {
      const last_update = waits ? known.get(runner) : undefined;
      const reply = await own.ask(
        'POST /jobs/request',
        { token: tokens[runner % tokens.length], system_id: `s_${runner}`, info: {}, last_update },
        {},
      );
      if (reply.status !== 204) throw new Error(`a job for nobody: ${reply.status}`);
      known.set(runner, String(reply.headers['x-gitlab-last-update']));
    };
    const own = opened(program.url, RUNNERS);
    for (let runner = 0; runner < RUNNERS; runner++) await poll(runner);
    const until = performance.now() + POLLING_MS;
    const before = cpuTimeOf(program.pid);
    const start = performance.now();
    await Promise.all(
      Array.from({ length: RUNNERS }, async (_, runner) => {
        await sleep((runner * POLL_MS) / RUNNERS);
        while (performance.now() < until) {
          await poll(runner);
          await sleep(POLL_MS);
        }
      }),
    );
    const after = cpuTimeOf(program.pid);
    const used = after.program + after.database - before.program - before.database;
    const part = (used / (performance.now() - start)) * 100;
    figures.push(
      atMost(
        `${RUNNERS} runners poll${waits ? ', and wait for what is new' : ' every 3 s'}: of one core`,
        part,
        5,
        '%',
        1,
      ),
    );
    await own.close();
  }
  return figures;
}

const PIPELINES = 150;
const JOBS_EACH = 20;
const AT_ONCE = 16;

async function measureExecution({ program, ask }: { program: Program; ask: Ask }): Promise<Figure[]> {
  const token = await runnerOf(ask);
  const id = await projectWith(ask, 'Busy', jobs(JOBS_EACH));
  for (let made = 0; made < PIPELINES; made++) await begin(ask, id);
  await workDone(program);
  const own = opened(program.url, AT_ONCE);
  let done = 0;
  const start = performance.now();
  await Promise.all(
    Array.from({ length: AT_ONCE }, async (_, runner) => {
      for (;;) {
        const job = await own.ask('POST /jobs/request', { token, system_id: `s_${runner}`, info: {} }, {});
        if (job.status !== 201) return;
        const reply = await own.ask(
          `PUT /jobs/${job.body.id}`,
          { token: job.body.token, state: 'success' },
          {},
        );
        if (reply.status !== 200) throw new Error(`job ${job.body.id}: ${reply.status}`);
        done++;
      }
    }),
  );
  const rate = done / ((performance.now() - start) / 1_000);
  await own.close();
  return [
    {
      what: `jobs handed out and finished, ${done} in ${PIPELINES} pipelines`,
      value: `${rate.toFixed(0)}/s`,
      baseline: '',
      result: `${rate.toFixed(0)}/s`,
      target: '≥ 300/s',
      met: rate >= 300 && done === PIPELINES * JOBS_EACH,
    },
  ];
}

const MANY = 2_000_000;

/** The first page of a project's jobs, and one in their midst. */
async function measureMany({ program, ask }: { program: Program; ask: Ask }): Promise<Figure[]> {
  const id = await projectWith(ask, 'Many', jobs(1));
  const { id: pipeline } = await begin(ask, id);
  const sql = connect(databaseOf(program.data), { max: 1, statementTimeout: 0, name: 'bench' });
  const [{ first = 0 } = {}] = await sql<{ first: number }[]>`
    select nextval(pg_get_serial_sequence('ci_jobs', 'id'))::integer as first`;
  await sql`create temporary table copied as select j.* from ci_jobs j where pipeline_id = ${pipeline}`;
  await sql`update copied set status = 'success', started_at = created_at, finished_at = created_at`;
  await sql`alter table ci_jobs disable trigger user`;
  await withoutIndexes(sql, 'ci_jobs', async () => {
    const columns = await sql<{ column_name: string }[]>`
      select column_name from information_schema.columns
      where table_name = 'ci_jobs' and column_name <> 'id' and is_generated = 'NEVER' order by ordinal_position`;
    const names = columns.map(({ column_name }) => column_name).join(', ');
    await sql.unsafe(`insert into ci_jobs (id, ${names}) overriding system value
      select ${first} + i, ${names} from copied, generate_series(1, ${MANY}) i`);
  });
  await sql`alter table ci_jobs enable trigger user`;
  await sql`vacuum analyze ci_jobs`;
  await sql.end();
  const page = `${program.url}/api/v4/projects/${id}/jobs?pagination=keyset&order_by=id&per_page=20`;
  const { subject, baseline, ratio } = await compareLatency(
    { url: `${page}&cursor=${encodeURIComponent(encodeCursor({ id: first + MANY / 2 }))}`, headers },
    { url: page, headers },
    220,
  );
  return [
    ratioOf(
      `20 of ${MANY} jobs of a project by keyset, in their midst`,
      `${subject.toFixed(2)} ms`,
      `${baseline.toFixed(2)} ms (the first)`,
      ratio,
      1.2,
    ),
  ];
}

const TRACES = 100;
const PART = 262_144;
const TRACED_MS = 20_000;

/** A hundred jobs write a megabyte a second each, in parts of a quarter. */
async function measureTraces({ program, ask }: { program: Program; ask: Ask }): Promise<Figure[]> {
  const token = await runnerOf(ask);
  const id = await projectWith(ask, 'Talking', jobs(TRACES).replaceAll('stage: test', 'stage: build'));
  await begin(ask, id);
  const own = opened(program.url, TRACES);
  const part = Buffer.alloc(PART, 'A line of a trace that somebody may read some day.\n');
  const taken: Payload[] = [];
  for (let n = 0; n < TRACES; n++) {
    const job = await own.ask('POST /jobs/request', { token, system_id: `t_${n}`, info: {} }, {});
    if (job.status !== 201) throw new Error(`no job: ${job.status}`);
    taken.push(job.body);
  }
  const memory: number[] = [];
  let bytes = 0;
  const start = performance.now();
  const until = start + TRACED_MS;
  const watching = (async () => {
    while (performance.now() < until) {
      await sleep(1_000);
      memory.push(memoryOf(program.pid));
    }
  })();
  await Promise.all(
    taken.map(async (job) => {
      let size = 0;
      for (let due = performance.now(); performance.now() < until; due += 250) {
        await sleep(Math.max(0, due - performance.now()));
        const range = `${size}-${size + PART - 1}`;
        const sent = { 'job-token': job.token, 'content-range': range };
        const reply = await own.ask(`PATCH /jobs/${job.id}/trace`, part, sent);
        if (reply.status !== 202) throw new Error(`trace: ${reply.status}`);
        size += PART;
        bytes += PART;
      }
    }),
  );
  const rate = bytes / 1_048_576 / ((performance.now() - start) / 1_000);
  await watching;
  await own.close();
  const third = Math.floor(memory.length / 3);
  const [first, last] = [Math.max(...memory.slice(0, third)), Math.max(...memory.slice(-third))];
  return [
    {
      what: `traces of ${TRACES} jobs, in parts of 256 KiB`,
      value: `${rate.toFixed(0)} MB/s`,
      baseline: '',
      result: `${rate.toFixed(0)} MB/s`,
      target: '≥ 100 MB/s',
      met: rate >= 95,
    },
    ratioOf(
      'memory (PSS) at its highest in the last third of that',
      `${last.toFixed(0)} MB`,
      `${first.toFixed(0)} MB (in the first third)`,
      last / first,
      1.1,
    ),
  ];
}

export async function measureCi(): Promise<Figure[]> {
  const opened = await open();
  const figures = [
    ...(await measurePolling(opened)),
    ...(await measureMaking(opened)),
    ...(await measureExecution(opened)),
    ...(await measureTraces(opened)),
    ...(await measureMany(opened)),
  ];
  await opened.close();
  await opened.program.stop();
  return figures;
}
