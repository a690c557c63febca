/** The figures of merge requests: lists, merging beside a clone with git, pushes into a busy branch, and large diffs. */
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { connect } from '../src/platform/db/database.ts';
import { git } from '../src/platform/git/program/program.ts';
import { makeFolder, type Program, ROOT_TOKEN, startProgram } from '../test/journeys/support.ts';
import { databaseOf } from './database.ts';
import { client, importHistory, makeProject, rate } from './git-client.ts';
import { makeManyIssues } from './many-issues.ts';
import { makeManyMergeRequests } from './many-merge-requests.ts';
import { compare, compareLatency, compareLoad, median, percentile, timesDuring } from './measure.ts';
import { metric, workDone } from './processes.ts';
import { atMost, type Figure, ratioOf } from './table.ts';

const headers = { 'private-token': ROOT_TOKEN };
const FILES = 2_000;

async function programWith(issues: number, mergeRequests: number): Promise<Program> {
  const data = join(makeFolder(), 'data');
  await (await startProgram({ data })).stop();
  await makeManyIssues(data, issues);
  await makeManyMergeRequests(data, mergeRequests);
  const program = await startProgram({ data });
  await program.root('PUT /application/settings', {
    throttle_authenticated_api_enabled: false,
    project_api_limit: 0,
  });
  return program;
}

const LESS = 20_000;
const MORE = 1_000_000;

/** A page of twenty beside one of issues on the same data, and of 1,000,000 beside one of 20,000. */
async function measureLists(): Promise<Figure[]> {
  const less = await programWith(LESS, LESS);
  const figures: Figure[] = [];
  for (const [what, path] of [
    ['project', 'projects/many%2Fproject-1'],
    ['group', 'groups/many'],
  ] as const) {
    const { subject, baseline, ratio } = await compareLoad(
      { url: `${less.url}/api/v4/${path}/merge_requests?per_page=20`, headers },
      { url: `${less.url}/api/v4/${path}/issues?per_page=20`, headers },
      5,
    );
    figures.push({
      what: `20 merge requests of a ${what}`,
      value: `${subject.toFixed(0)}/s`,
      baseline: `${baseline.toFixed(0)}/s (20 issues)`,
      result: `${(ratio * 100).toFixed(0)} %`,
      target: '≥ 60 %',
      met: ratio >= 0.6,
    });
  }
  const more = await programWith(1_000, MORE);
  for (const [name, query] of [
    ['newest', 'per_page=20'],
    ['last updated', 'per_page=20&order_by=updated_at'],
    ['open ones', 'per_page=20&state=opened'],
  ] as const) {
    const path = `/api/v4/groups/many/merge_requests?${query}`;
    const { subject, baseline, ratio } = await compareLatency(
      { url: `${more.url}${path}`, headers },
      { url: `${less.url}${path}`, headers },
      120,
    );
    figures.push(
      ratioOf(
        `merge requests of a group of 1,000,000, ${name}`,
        `${subject.toFixed(2)} ms`,
        `${baseline.toFixed(2)} ms (of 20,000)`,
        ratio,
        1.2,
      ),
    );
  }
  await Promise.all([less.stop(), more.stop()]);
  return figures;
}

const who = 'Ada Lovelace <ada@example.com> 1700000000 +0000';
const fileAt = (index: number): string => `area-${index % 40}/file-${index}.txt`;
const inline = (path: string, text: string): string =>
  `M 100644 inline ${path}\ndata ${text.length}\n${text}\n`;

/** 2,000 files on `main`, and branches from there, each of which changes a file of its own. */
function* branchesStream(branches: number): Generator<string> {
  yield `commit refs/heads/main\nmark :1\ncommitter ${who}\ndata 5\nfirst\n`;
  for (let file = 0; file < FILES; file++) yield inline(fileAt(file), `file ${file}\n`.repeat(50));
  for (let branch = 0; branch < branches; branch++) {
    yield `commit refs/heads/topic-${branch}\ncommitter ${who}\ndata 6\nchange\nfrom :1\n`;
    yield inline(fileAt(branch % FILES), `changed on ${branch}\n`);
  }
}

/** A program without limits. */
async function unlimited(): Promise<Program> {
  const program = await startProgram();
  await program.root('PUT /application/settings', {
    throttle_authenticated_api_enabled: false,
    project_api_limit: 0,
  });
  return program;
}

async function root(program: Program, request: string, body?: unknown): Promise<Response> {
  const response = await program.root(request, body);
  if (!response.ok) throw new Error(`${request}: ${response.status} ${await response.text()}`);
  await response.arrayBuffer();
  return response;
}

const open = (program: Program, project: number, branch: number): Promise<unknown> =>
  root(program, `POST /projects/${project}/merge_requests`, {
    title: `Topic ${branch}`,
    source_branch: `topic-${branch}`,
    target_branch: 'main',
  });

async function openAll(program: Program, project: number, branches: number): Promise<void> {
  for (let branch = 0; branch < branches; branch++) await open(program, project, branch);
}

const PROJECTS = 16;
/** In each project: more than are merged while it is measured. */
const BRANCHES = 100;

/** Merge commits a second over 16 projects, beside a shared clone, a merge and a push by git on two cores. */
async function measureMerging(): Promise<Figure[]> {
  const program = await unlimited();
  const source = join(makeFolder(), 'source.git');
  await importHistory(source, branchesStream(BRANCHES));
  const projects: number[] = [];
  for (let made = 0; made < PROJECTS; made++) {
    const { id } = await makeProject(program, `merging-${made}`, source);
    projects.push(id);
    await openAll(program, id, BRANCHES);
  }
  await workDone(program);
  const merged = new Map<number, number>();
  const merging = (seconds: number) =>
    rate(
      PROJECTS,
      async (run) => {
        const project = projects[run % PROJECTS] ?? 0;
        const iid = (merged.get(project) ?? 0) + 1;
        if (iid > BRANCHES) throw new Error('no merge request is left');
        merged.set(project, iid);
        await root(program, `PUT /projects/${project}/merge_requests/${iid}/merge`);
      },
      seconds,
    );
  const folder = makeFolder();
  const target = join(folder, 'target.git');
  await client(['clone', '-q', '--bare', source, target]);
  let clones = 0;
  const byHand = (seconds: number) =>
    rate(
      2,
      async () => {
        const run = clones++;
        const checkout = join(folder, `clone-${run}`);
        // Each merges into a branch of its own: two that push to one would refuse each other.
        await client(['clone', '-q', '--shared', target, checkout]);
        const identity = ['-c', 'user.name=Ada', '-c', 'user.email=ada@example.com'];
        await client([...identity, 'merge', '-q', '--no-ff', `origin/topic-${run % BRANCHES}`], checkout);
        await client(['push', '-q', 'origin', `HEAD:refs/heads/merged-${run}`], checkout);
        rmSync(checkout, { recursive: true });
      },
      seconds,
    );
  const { subject, baseline, ratio } = await compare(merging, byHand, 4, () => workDone(program));
  await program.stop();
  return [
    {
      what: `merging over ${PROJECTS} projects, 2,000 files`,
      value: `${subject.toFixed(1)}/s`,
      baseline: `${baseline.toFixed(1)}/s (git clone --shared, merge and push)`,
      result: `${ratio.toFixed(1)}×`,
      target: '≥ 3×',
      met: ratio >= 3,
    },
    {
      what: 'the same, absolutely',
      value: `${subject.toFixed(1)}/s`,
      baseline: '',
      result: `${subject.toFixed(1)}/s`,
      target: '≥ 25/s',
      met: subject >= 25,
    },
  ];
}

const OPEN = 1_000;
const PUSHES = 7;

/** A push into a branch of 1,000 open merge requests beside one into a branch of none, and what follows it. */
async function measurePushes(): Promise<Figure[]> {
  const program = await unlimited();
  const source = join(makeFolder(), 'source.git');
  await importHistory(source, branchesStream(OPEN));
  const busy = await makeProject(program, 'busy', source);
  const still = await makeProject(program, 'still', source);
  await openAll(program, busy.id, OPEN);
  await workDone(program);
  const sql = connect(databaseOf(program.data), { max: 1, statementTimeout: 0, name: 'bench' });
  const work = join(makeFolder(), 'work');
  await client(['clone', '-q', source, work]);
  const identity = ['-c', 'user.name=Ada', '-c', 'user.email=ada@example.com'];
  const times = { busy: [] as number[], still: [] as number[] };
  const judged: number[] = [];
  const during: number[] = [];
  const path = `${program.url}/api/v4/projects/${still.id}`;
  const alone = await timesDuring({ url: path, headers }, sleep(10_000));
  for (let push = 0; push < PUSHES; push++) {
    await client([...identity, 'commit', '-q', '--allow-empty', '-m', `Push ${push}`], work);
    for (const name of ['still', 'busy'] as const) {
      const start = performance.now();
      await client(['push', '-q', name === 'busy' ? busy.url : still.url, 'HEAD:main'], work);
      times[name].push(performance.now() - start);
      if (name === 'still') await workDone(program);
    }
    const start = performance.now();
    during.push(...(await timesDuring({ url: path, headers }, workDone(program))));
    judged.push((performance.now() - start) / 1_000);
    const head = (await git(['rev-parse', 'HEAD'], { folder: join(work, '.git') })).toString().trim();
    const [row] = await sql<{ count: number }[]>`
      select count(*)::integer from merge_requests
      where project_id = ${busy.id} and merge_status = 'can_be_merged' and judged_target_sha = ${head}`;
    if (row?.count !== OPEN) throw new Error(`${row?.count} merge requests were judged of ${OPEN}`);
  }
  await sql.end();
  await program.stop();
  const [own, other] = [median(times.busy), median(times.still)];
  const [p99, before] = [percentile(during, 0.99), percentile(alone, 0.99)];
  return [
    ratioOf(
      `a push into a branch of ${OPEN} merge requests`,
      `${own.toFixed(0)} ms`,
      `${other.toFixed(0)} ms (of none)`,
      own / other,
      1.2,
    ),
    atMost('until the last of them is judged', Math.max(...judged), 60, 's', 1),
    ratioOf(
      'p99 of another request meanwhile',
      `${p99.toFixed(1)} ms`,
      `${before.toFixed(1)} ms (before)`,
      p99 / before,
      2,
    ),
  ];
}

const CHANGED = 3_000;

/** The first byte of a diff of 3,000 files, and the longest turn of the event loop meanwhile. */
async function measureDiffs(): Promise<Figure[]> {
  const program = await startProgram({ command: [join(import.meta.dirname, 'serve-watched.ts')] });
  const source = join(makeFolder(), 'source.git');
  const changed = Array.from({ length: CHANGED }, (_, file) =>
    inline(fileAt(file), `changed ${file}\n`.repeat(50)),
  );
  await importHistory(source, [
    ...branchesStream(0),
    `commit refs/heads/topic-0\ncommitter ${who}\ndata 6\nchange\nfrom :1\n`,
    ...changed,
  ]);
  const { id } = await makeProject(program, 'diffs', source);
  await open(program, id, 0);
  await workDone(program);
  const figures: Figure[] = [];
  for (const path of [
    'diffs?per_page=20',
    'diffs?per_page=100&page=30',
    'changes',
    'raw_diffs',
    'versions/1',
  ]) {
    const url = `${program.url}/api/v4/projects/${id}/merge_requests/1/${path}`;
    const starts: number[] = [];
    let stall = 0;
    for (let round = 0; round < 10; round++) {
      await metric(program.url, 'bench_longest_turn_seconds');
      const start = performance.now();
      const response = await fetch(url, { headers });
      const reader = response.body?.getReader();
      await reader?.read();
      starts.push(performance.now() - start);
      while (!(await reader?.read())?.done);
      if (response.status !== 200) throw new Error(`${url}: ${response.status}`);
      // The first ones compile.
      if (round > 2)
        stall = Math.max(stall, (await metric(program.url, 'bench_longest_turn_seconds')) * 1_000);
    }
    figures.push(
      atMost(`${path} of ${CHANGED} files starts`, median(starts), 100, 'ms'),
      atMost('the longest turn of the loop meanwhile', stall, 50, 'ms'),
    );
  }
  await program.stop();
  return figures;
}

export async function measureMergeRequests(): Promise<Figure[]> {
  const figures: Figure[] = [];
  for (const measure of [measureDiffs, measureMerging, measurePushes, measureLists])
    for (const figure of await measure()) {
      process.stderr.write(`${figure.what}: ${figure.result}\n`);
      figures.push(figure);
    }
  return figures;
}
