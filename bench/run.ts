/** `npm run bench [part…]`: runs the parts (load, start, many, oauth, repositories, issues, merge-requests, hooks, ci, packages, export, backup, errors, alerts, feed, fairness, loop, inventory, memory, lab), and writes the table of each to bench/results.md. */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { bundle } from '../scripts/bundle.ts';
import { cleanUp, makeFolder, type Program, ROOT_TOKEN, startProgram } from '../test/journeys/support.ts';
import { measureAlerts } from './alerts.ts';
import { measureBackup } from './backup.ts';
import { measureCi } from './ci.ts';
import { measureErrors } from './errors.ts';
import { measureEvents } from './events.ts';
import { measureExports } from './exports.ts';
import { measureFairShare } from './fair-share.ts';
import { measureHooks } from './hooks.ts';
import { measureInventory } from './inventory.ts';
import { measureIssues } from './issues.ts';
import { measureLab } from './lab.ts';
import { measureLoop } from './loop-stalls.ts';
import { MEMBER_TOKEN, makeManyProjects } from './many-projects.ts';
import { compareLatency, compareLoad, median, type Request } from './measure.ts';
import { measureMemory } from './memory.ts';
import { measureMergeRequests } from './merge-requests.ts';
import { measureOAuth } from './oauth.ts';
import { measurePackages } from './packages.ts';
import { endScripts, memoryOf, startScript } from './processes.ts';
import { measureRepositories } from './repositories.ts';
import { atMost, type Figure, insertSection, merely, renderPart } from './table.ts';
import { measureWatchers } from './watchers.ts';

const SECONDS = 5;
const ENOUGH = 1_000_000_000;

async function setLimits(program: Program, on: boolean): Promise<void> {
  const limit = on ? ENOUGH : 0;
  const response = await program.root('PUT /application/settings', {
    throttle_authenticated_api_enabled: on,
    throttle_authenticated_api_requests_per_period: ENOUGH,
    throttle_unauthenticated_api_enabled: on,
    throttle_unauthenticated_api_requests_per_period: ENOUGH,
    project_api_limit: limit,
    projects_api_limit: limit,
    projects_api_rate_limit_unauthenticated: limit,
  });
  if (response.status !== 200) throw new Error(`settings: ${response.status} ${await response.text()}`);
}

const asWho = (url: string, path: string, token: string | undefined): Request => ({
  url: `${url}/api/v4${path}`,
  ...(token !== undefined && { headers: { 'private-token': token } }),
});

/** Requests per second beside those of a bare route (see baseline.ts). */
async function measureLoad(): Promise<Figure[]> {
  const program = await startProgram();
  for (let made = 1; made <= 20; made++) {
    const name = `Project ${made}`;
    await program.root('POST /projects', { name, description: `About ${name}`, topics: ['stone', 'mortar'] });
  }
  const bare = await startScript('baseline.ts', [program.data, program.url, ROOT_TOKEN]);
  const figures: Figure[] = [];
  for (const limited of [true, false]) {
    await setLimits(program, limited);
    for (const path of ['/projects/1', '/user', '/projects?per_page=20']) {
      const { subject, baseline, ratio } = await compareLoad(
        asWho(program.url, path, ROOT_TOKEN),
        { url: `${bare.line}${path}` },
        SECONDS,
      );
      figures.push({
        what: `GET ${path}, rate limiter ${limited ? 'on' : 'off'}`,
        value: `${subject.toFixed(0)}/s`,
        baseline: `${baseline.toFixed(0)}/s (bare route)`,
        result: `${(ratio * 100).toFixed(0)} %`,
        target: '≥ 55 %',
        met: ratio >= 0.55,
      });
    }
  }
  await bare.stop();
  await program.stop();
  return figures;
}

type Start = { data?: string; env?: Record<string, string>; command?: string[] };

/** Seconds from the start of the process to the first 200 on /-/readiness, and the program. */
async function timeStart(options: Start): Promise<{ seconds: number; program: Program }> {
  const begin = performance.now();
  const program = await startProgram(options);
  for (;;) {
    const { status } = await fetch(`${program.url}/-/readiness`);
    if (status === 200) return { seconds: (performance.now() - begin) / 1_000, program };
    if (performance.now() - begin > 60_000) throw new Error('not ready within a minute');
    await sleep(10);
  }
}

const MANY = 'dist-many';
const manyEndpoints = [join(import.meta.dirname, '..', MANY, 'serve-many.js')];

/** Start and idle memory, of the program itself and with an inventory of 1,100 endpoints. */
async function measureStart(): Promise<Figure[]> {
  await bundle(['bench/serve-many.ts'], MANY);
  const figures: Figure[] = [];
  for (const [name, command] of [
    ['', undefined],
    [', 1,100 endpoints', manyEndpoints],
  ] as const) {
    const options: Start = command === undefined ? {} : { command };
    const home = join(makeFolder(), 'home');
    mkdirSync(home);
    const cold = await timeStart({ ...options, env: { HOME: home } });
    await cold.program.stop();
    const firsts: number[] = [];
    const seconds: number[] = [];
    for (let round = 0; round < 3; round++) {
      const first = await timeStart(options);
      firsts.push(first.seconds);
      await first.program.stop();
      const second = await timeStart({ ...options, data: first.program.data });
      seconds.push(second.seconds);
      await second.program.stop();
    }
    const { program } = await timeStart(options);
    await sleep(5_000);
    const idle = memoryOf(program.pid);
    for (let request = 0; request < 2_000; request++)
      await (await program.root('GET /projects')).arrayBuffer();
    await sleep(5_000);
    const used = memoryOf(program.pid);
    await program.stop();
    figures.push(
      atMost(`first start, empty folder, code never compiled${name}`, cold.seconds, 2, 's', 2),
      atMost(`first start, empty folder${name}`, median(firsts), 2, 's', 2),
      atMost(`start with data${name}`, median(seconds), 0.7, 's', 2),
      atMost(`idle memory (PSS) of program and database${name}`, idle, 200, 'MB'),
      merely(`the same after 2,000 requests${name}`, used, 'MB'),
    );
  }
  return figures;
}

const LESS = 20_000;
const MORE = 1_000_000;

/** A data folder in which the program was started once, with so many projects. */
async function folderWith(projects: number): Promise<string> {
  const data = join(makeFolder(), 'data');
  await (await startProgram({ data })).stop();
  await makeManyProjects(data, projects);
  return data;
}

/** Latency of lists over 1,000,000 projects beside the same over 20,000. */
async function measureMany(): Promise<Figure[]> {
  const less = await startProgram({ data: await folderWith(LESS) });
  const more = await startProgram({ data: await folderWith(MORE) });
  for (const program of [less, more]) await setLimits(program, false);
  const callers = { administrator: ROOT_TOKEN, 'member of 50 groups': MEMBER_TOKEN, anonymous: undefined };
  const keyset = '/projects?pagination=keyset&order_by=id&per_page=20';
  const pages: { name: string; path: (count: number) => string; limit: number }[] = [
    { name: 'first offset page', path: () => '/projects', limit: 1.5 },
    { name: 'first keyset page', path: () => keyset, limit: 1.2 },
    { name: 'middle keyset page', path: (count) => `${keyset}&id_before=${count / 2}`, limit: 1.2 },
    { name: 'deep keyset page', path: (count) => `${keyset}&id_before=${count / 8}`, limit: 1.2 },
    { name: 'keyset page upwards', path: (count) => `${keyset}&sort=asc&id_after=${count / 2}`, limit: 1.2 },
  ];
  const figures: Figure[] = [];
  for (const [caller, token] of Object.entries(callers)) {
    for (const { name, path, limit } of pages) {
      const { subject, baseline, ratio } = await compareLatency(
        asWho(more.url, path(MORE), token),
        asWho(less.url, path(LESS), token),
        220,
      );
      figures.push({
        what: `/projects of 1,000,000, ${name}, ${caller}`,
        value: `${subject.toFixed(2)} ms`,
        baseline: `${baseline.toFixed(2)} ms (of 20,000)`,
        result: `${ratio.toFixed(2)}×`,
        target: `≤ ${limit}×`,
        met: ratio <= limit,
      });
    }
  }
  await Promise.all([less.stop(), more.stop()]);
  return figures;
}

/** `keep` takes what a long part has so far. */
type Part = (keep: (tables: string) => void) => Promise<Figure[] | string>;

const parts: Record<string, Part> = {
  load: measureLoad,
  start: measureStart,
  many: measureMany,
  oauth: measureOAuth,
  repositories: measureRepositories,
  issues: measureIssues,
  'merge-requests': measureMergeRequests,
  hooks: measureHooks,
  ci: measureCi,
  packages: measurePackages,
  export: measureExports,
  backup: measureBackup,
  errors: measureErrors,
  alerts: measureAlerts,
  feed: async () => [...(await measureEvents()), ...(await measureWatchers())],
  fairness: measureFairShare,
  loop: measureLoop,
  inventory: measureInventory,
  memory: measureMemory,
  lab: measureLab,
};
const asked = process.argv.slice(2);
const unknown = asked.filter((name) => !Object.hasOwn(parts, name));
if (unknown.length > 0)
  throw new Error(`no part '${unknown.join("', '")}': there are ${Object.keys(parts).join(', ')}`);

const results = join(import.meta.dirname, 'results.md');

try {
  for (const [name, measure] of Object.entries(parts)) {
    if (asked.length > 0 && !asked.includes(name)) continue;
    const keep = (measured: Figure[] | string): string => {
      const table = renderPart(name, measured, new Date());
      writeFileSync(results, insertSection(readFileSync(results, 'utf8'), name, table, Object.keys(parts)));
      return table;
    };
    process.stdout.write(`${keep(await measure(keep))}\n`);
  }
} finally {
  endScripts();
  await cleanUp();
}
