/** The figures of issues: creating them beside a bare durable INSERT, and lists of very many. */
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { connect } from '../src/platform/db/database.ts';
import { makeFolder, type Program, ROOT_TOKEN, startProgram } from '../test/journeys/support.ts';
import { databaseOf } from './database.ts';
import { makeManyIssues } from './many-issues.ts';
import { compareLatency, compareLoad, MANY_CONNECTIONS } from './measure.ts';
import { metric, startScript } from './processes.ts';
import type { Figure } from './table.ts';

const headers = { 'private-token': ROOT_TOKEN };
const SECONDS = 6;
const PROJECTS = 64;

async function makeProjects(program: Program): Promise<number[]> {
  const ids: number[] = [];
  for (let made = 1; made <= PROJECTS; made++) {
    const response = await program.root('POST /projects', { name: `Issues ${made}` });
    ids.push(((await response.json()) as { id: number }).id);
  }
  return ids;
}

/** Removes the jobs of the new issues: they take minutes, and are not measured. */
async function forgetJobs(program: Program): Promise<void> {
  const sql = connect(databaseOf(program.data), { max: 1, statementTimeout: 0, name: 'bench' });
  try {
    for (let waited = 0; waited < 300; waited++) {
      if ((await metric(program.url, 'waiting{kind="outbox"}')) === 0) {
        await sql`delete from graphile_worker._private_jobs where locked_at is null`;
        if ((await metric(program.url, 'waiting{kind="jobs"}')) === 0) return;
      }
      await sleep(100);
    }
  } finally {
    await sql.end();
  }
  throw new Error('jobs stay after half a minute');
}

/** Issues created a second, with their events, beside rows inserted by a bare route. */
async function measureCreation(): Promise<Figure[]> {
  const program = await startProgram();
  await program.root('PUT /application/settings', {
    issues_create_limit: 0,
    throttle_authenticated_api_enabled: false,
  });
  const projects = await makeProjects(program);
  const bare = await startScript('insert-baseline.ts', [program.data]);
  const body = { title: 'The bridge needs a new stone', description: 'The third from the left is loose.' };
  const baseline = { url: bare.line, posts: { paths: ['/rows'], body } };
  const figures: Figure[] = [];
  for (const [what, chosen, target] of [
    [`over ${PROJECTS} projects`, projects, 0.4],
    ['into one project', projects.slice(0, 1), 0.15],
  ] as const) {
    const paths = chosen.map((id) => `/api/v4/projects/${id}/issues`);
    const {
      subject,
      baseline: other,
      ratio,
    } = await compareLoad(
      { url: program.url, headers, posts: { paths, body } },
      baseline,
      SECONDS,
      () => forgetJobs(program),
      MANY_CONNECTIONS,
    );
    figures.push({
      what: `creating issues ${what}`,
      value: `${subject.toFixed(0)}/s`,
      baseline: `${other.toFixed(0)}/s (a bare durable INSERT)`,
      result: `${(ratio * 100).toFixed(0)} %`,
      target: `≥ ${target * 100} %`,
      met: ratio >= target,
    });
  }
  await bare.stop();
  await program.stop();
  return figures;
}

const LESS = 20_000;
const MORE = 1_000_000;

async function programWith(issues: number): Promise<Program> {
  const data = join(makeFolder(), 'data');
  await (await startProgram({ data })).stop();
  await makeManyIssues(data, issues);
  return startProgram({ data });
}

/** The newest of a group of 1,000,000 issues beside those of 20,000. */
async function measureLists(): Promise<Figure[]> {
  const [less, more] = [await programWith(LESS), await programWith(MORE)];
  const figures: Figure[] = [];
  for (const [name, query, isNamed] of [
    ['newest', 'per_page=20', true],
    ['last updated', 'per_page=20&order_by=updated_at', true],
    [
      'open ones with a label that 50,000 have, and 1,000',
      'per_page=20&state=opened&labels=label%207',
      false,
    ],
  ] as const) {
    const path = `/api/v4/groups/many/issues?${query}`;
    const { subject, baseline, ratio } = await compareLatency(
      { url: `${more.url}${path}`, headers },
      { url: `${less.url}${path}`, headers },
      120,
    );
    figures.push({
      what: `issues of a group of 1,000,000, ${name}`,
      value: `${subject.toFixed(2)} ms`,
      baseline: `${baseline.toFixed(2)} ms (of 20,000)`,
      result: `${ratio.toFixed(2)}×`,
      target: isNamed ? '≤ 1.5×' : '',
      met: isNamed ? ratio <= 1.5 : undefined,
    });
  }
  await Promise.all([less.stop(), more.stop()]);
  return figures;
}

export const measureIssues = async (): Promise<Figure[]> => [
  ...(await measureCreation()),
  ...(await measureLists()),
];
