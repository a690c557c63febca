/** The figures of alerts: taking them beside a bare durable INSERT, and beside very many stored ones. */
import { join } from 'node:path';
import { connect } from '../src/platform/db/database.ts';
import { makeFolder, type Program, startProgram } from '../test/journeys/support.ts';
import { databaseOf } from './database.ts';
import { ALERT_KEY, EMPTY_PROJECT, FULL_PROJECT, keyDigest, makeManyAlerts } from './many-alerts.ts';
import { compareLoad, EACH_ANOTHER, MANY_CONNECTIONS, type Request } from './measure.ts';
import { startScript, workDone } from './processes.ts';
import type { Figure } from './table.ts';

const SECONDS = 6;
const PROJECTS = 64;
const headers = { authorization: `Bearer ${ALERT_KEY}` };
const text = { title: 'The bridge needs a new stone', description: 'The third from the left is loose.' };
const distinct = { ...text, severity: 'high', hosts: ['bridge'], fingerprint: EACH_ANOTHER };
const repeated = { ...distinct, fingerprint: 'the bridge' };

const pathOf = (project: string): string => `/${project}/alerts/notify.json`;

/** Full paths of new projects, whose integrations all have the one key. */
async function makeProjects(program: Program): Promise<string[]> {
  const paths: string[] = [];
  for (let made = 1; made <= PROJECTS; made++) {
    const response = await program.root('POST /projects', { name: `Alerts ${made}` });
    const { id, path_with_namespace: path } = (await response.json()) as {
      id: number;
      path_with_namespace: string;
    };
    const body = { name: 'Bench', type: 'http', active: true };
    const { status } = await program.root(`POST /projects/${id}/alert_management_integrations`, body);
    if (status !== 201) throw new Error(`no integration: ${status}`);
    paths.push(path);
  }
  const sql = connect(databaseOf(program.data), { max: 1, statementTimeout: 0, name: 'bench' });
  await sql`update alert_integrations set key_digest = ${keyDigest}`;
  await sql.end();
  return paths;
}

const sending = (program: Program, projects: readonly string[], body: unknown): Request => ({
  url: program.url,
  headers,
  posts: { paths: projects.map(pathOf), body },
});

/** Alerts taken a second, beside rows inserted by a bare route. */
async function measureTaking(): Promise<Figure[]> {
  const program = await startProgram();
  const projects = await makeProjects(program);
  const bare = await startScript('insert-baseline.ts', [program.data]);
  // Its requests are made as those of the program are.
  const rows = { title: text.title, description: `${text.description} ${EACH_ANOTHER}` };
  const baseline = { url: bare.line, posts: { paths: ['/rows'], body: rows } };
  const figures: Figure[] = [];
  const [first = ''] = projects;
  for (const [what, chosen, body, target] of [
    [`distinct alerts over ${PROJECTS} projects`, projects, distinct, 0.5],
    ['distinct alerts into one project', [first], distinct, 0.5],
    ['repeats of one open alert', [first], repeated, 1],
  ] as const) {
    const subject = sending(program, chosen, body);
    const settled = () => workDone(program);
    const compared = await compareLoad(subject, baseline, SECONDS, settled, MANY_CONNECTIONS);
    figures.push({
      what,
      value: `${compared.subject.toFixed(0)}/s`,
      baseline: `${compared.baseline.toFixed(0)}/s (a bare durable INSERT)`,
      result: `${(compared.ratio * 100).toFixed(0)} %`,
      target: `≥ ${target * 100} %`,
      met: compared.ratio >= target,
    });
  }
  figures.push(await countRepeats(program, first));
  await bare.stop();
  await program.stop();
  return figures;
}

const REPEATS = 2_000;
const AT_ONCE = 16;

/** Whether so many repeats count as so many. */
async function countRepeats(program: Program, project: string): Promise<Figure> {
  const send = async (): Promise<void> => {
    const response = await fetch(`${program.url}${pathOf(project)}`, {
      method: 'POST',
      headers,
      body: JSON.stringify({ ...text, fingerprint: 'counted' }),
    });
    if (response.status !== 200) throw new Error(`${response.status} ${await response.text()}`);
    await response.arrayBuffer();
  };
  await Promise.all(
    Array.from({ length: AT_ONCE }, async () => {
      for (let sent = 0; sent < REPEATS / AT_ONCE; sent++) await send();
    }),
  );
  const id = encodeURIComponent(project);
  const response = await program.root(`GET /projects/${id}/alert_management_alerts?order_by=id&per_page=1`);
  const [alert] = (await response.json()) as { event_count: number }[];
  const counted = alert?.event_count ?? 0;
  return {
    what: `the counter after ${REPEATS} repeats`,
    value: String(counted),
    baseline: '',
    result: String(counted),
    target: `= ${REPEATS}`,
    met: counted === REPEATS,
  };
}

const MANY = 1_000_000;

/** The next alert of a project with 1,000,000 of them beside that of an empty one. */
async function measureFull(): Promise<Figure[]> {
  const data = join(makeFolder(), 'data');
  await (await startProgram({ data })).stop();
  await makeManyAlerts(data, MANY);
  const program = await startProgram({ data });
  const { subject, baseline, ratio } = await compareLoad(
    sending(program, [FULL_PROJECT], distinct),
    sending(program, [EMPTY_PROJECT], distinct),
    SECONDS,
    () => workDone(program),
  );
  await program.stop();
  return [
    {
      what: 'distinct alerts into a project with 1,000,000',
      value: `${subject.toFixed(0)}/s`,
      baseline: `${baseline.toFixed(0)}/s (an empty project)`,
      result: `${ratio.toFixed(2)}×`,
      target: '0.8× to 1.2×',
      met: ratio >= 0.8 && ratio <= 1.2,
    },
  ];
}

export const measureAlerts = async (): Promise<Figure[]> => [
  ...(await measureTaking()),
  ...(await measureFull()),
];
