/** The figures of webhooks: deliveries a second and what they cost others, pushes to projects with hooks, and memory. */
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import autocannon from 'autocannon';
import { connect } from '../src/platform/db/database.ts';
import { makeFolder, type Program, ROOT_TOKEN, startProgram } from '../test/journeys/support.ts';
import { databaseOf } from './database.ts';
import { client, importHistory, makeProject } from './git-client.ts';
import { median, percentile, timesDuring } from './measure.ts';
import { memoryOf, startScript, workDone } from './processes.ts';
import { type Figure, ratioOf } from './table.ts';

const headers = { 'private-token': ROOT_TOKEN };

async function made(program: Program, request: string, body: unknown): Promise<number> {
  const response = await program.root(request, body);
  if (!response.ok) throw new Error(`${request}: ${response.status} ${await response.text()}`);
  return ((await response.json()) as { id: number }).id;
}

/** A program that sends to this machine, and a receiver. */
async function open(): Promise<{ program: Program; receiver: Awaited<ReturnType<typeof startScript>> }> {
  const program = await startProgram();
  const settings = await program.root('PUT /application/settings', {
    throttle_authenticated_api_enabled: false,
    issues_create_limit: 0,
    project_api_limit: 0,
    outbound_local_requests_allowlist: ['127.0.0.1'],
  });
  if (!settings.ok) throw new Error(`settings: ${settings.status}`);
  return { program, receiver: await startScript('hook-receiver.ts', []) };
}

const received = async (url: string): Promise<number> => Number(await (await fetch(url)).text());

async function arrived(url: string, count: number): Promise<void> {
  while ((await received(url)) < count) await sleep(100);
}

const PROJECTS = 8;
const HOOKS = 8;
/** Issues of all projects: each is told to the hooks of its own. */
const ISSUES = 12_500;
const DELIVERIES = ISSUES * HOOKS;
/** From here on memory is compared: code is compiled, and buffers have their size. */
const WARM = 20_000;

async function measureDeliveries(): Promise<Figure[]> {
  const { program, receiver } = await open();
  const paths: string[] = [];
  for (let project = 1; project <= PROJECTS; project++) {
    const id = await made(program, 'POST /projects', { name: `Told ${project}` });
    for (let hook = 1; hook <= HOOKS; hook++)
      await made(program, `POST /projects/${id}/hooks`, {
        url: `${receiver.line}/${hook}`,
        push_events: false,
        issues_events: true,
      });
    paths.push(`/api/v4/projects/${id}/issues`);
  }
  const other = { url: `${program.url}/api/v4/projects/1`, headers };
  const quiet = await timesDuring(other, sleep(10_000));
  const body = JSON.stringify({ title: 'The bridge needs a new stone', description: 'The third is loose.' });
  await autocannon({
    url: program.url,
    headers: { ...headers, 'content-type': 'application/json' },
    connections: PROJECTS,
    amount: ISSUES,
    requests: paths.map((path) => ({ method: 'POST', path, body })),
  });
  await arrived(receiver.line, WARM);
  const before = memoryOf(program.pid);
  const [start, first] = [performance.now(), await received(receiver.line)];
  const meanwhile = await timesDuring(other, arrived(receiver.line, DELIVERIES));
  const rate = (DELIVERIES - first) / ((performance.now() - start) / 1_000);
  const after = memoryOf(program.pid);
  await sleep(2_000);
  const more = (await received(receiver.line)) - DELIVERIES;
  if (more !== 0) throw new Error(`${more} deliveries more than events`);
  await receiver.stop();
  await program.stop();
  const [p99, alone] = [percentile(meanwhile, 0.99), percentile(quiet, 0.99)];
  return [
    {
      what: `deliveries of ${DELIVERIES} to ${PROJECTS * HOOKS} hooks`,
      value: `${rate.toFixed(0)}/s`,
      baseline: '',
      result: `${rate.toFixed(0)}/s`,
      target: '≥ 500/s',
      met: rate >= 500,
    },
    ratioOf(
      'p99 of another request meanwhile',
      `${p99.toFixed(1)} ms`,
      `${alone.toFixed(1)} ms (quiet)`,
      p99 / alone,
      2,
    ),
    ratioOf(
      `memory (PSS) after ${DELIVERIES} deliveries`,
      `${after.toFixed(0)} MB`,
      `${before.toFixed(0)} MB (after ${WARM})`,
      after / before,
      1.1,
    ),
  ];
}

const PUSHES = 15;
const who = 'Ada <ada@example.com> 1700000000 +0000';

/** Pushes to a project without hooks, to one with twenty, and to one with a thousand, by turns. */
async function measurePushes(): Promise<Figure[]> {
  const { program, receiver } = await open();
  const source = join(makeFolder(), 'source.git');
  await importHistory(source, [
    `commit refs/heads/main\ncommitter ${who}\ndata 5\nfirst\nM 100644 inline a.txt\ndata 2\na\n\n`,
  ]);
  const projects = new Map<number, { url: string; times: number[] }>();
  for (const hooks of [0, 20, 1_000]) {
    const { id, url } = await makeProject(program, `With ${hooks}`, source);
    projects.set(hooks, { url, times: [] });
    if (hooks === 0) continue;
    const hook = await made(program, `POST /projects/${id}/hooks`, { url: receiver.line });
    // More than a project may be given by requests.
    const sql = connect(databaseOf(program.data), { max: 1, statementTimeout: 0, name: 'bench' });
    await sql`create temporary table copied as select hooks.* from hooks, generate_series(2, ${hooks}::integer)
      where hooks.id = ${hook}`;
    await sql`update copied set id = nextval(pg_get_serial_sequence('hooks', 'id'))`;
    await sql`insert into hooks overriding system value select * from copied`;
    await sql.end();
  }
  const work = join(makeFolder(), 'work');
  await client(['clone', '-q', source, work]);
  const identity = ['-c', 'user.name=Ada', '-c', 'user.email=ada@example.com'];
  let expected = 0;
  for (let push = 0; push < PUSHES; push++) {
    await client([...identity, 'commit', '-q', '--allow-empty', '-m', `Push ${push}`], work);
    for (const [hooks, { url, times }] of projects) {
      const start = performance.now();
      await client(['push', '-q', url, 'HEAD:main'], work);
      times.push(performance.now() - start);
      expected += hooks;
      await arrived(receiver.line, expected);
      await workDone(program);
    }
  }
  await receiver.stop();
  await program.stop();
  const none = median(projects.get(0)?.times ?? []);
  return [20, 1_000].map((hooks) => {
    const own = median(projects.get(hooks)?.times ?? []);
    return ratioOf(
      `a push to a project with ${hooks} hooks`,
      `${own.toFixed(0)} ms`,
      `${none.toFixed(0)} ms (without)`,
      own / none,
      1.1,
    );
  });
}

export const measureHooks = async (): Promise<Figure[]> => [
  ...(await measurePushes()),
  ...(await measureDeliveries()),
];
