/** A backup of everything, beside 50 clients that write, is restored elsewhere, by way of other databases, and after kill -9. */
import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { randomInt } from 'node:crypto';
import { once } from 'node:events';
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { isDeepStrictEqual } from 'node:util';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { repositoryPath } from '../../src/domain/repositories/store/containers.ts';
import { packageFolder } from '../../src/package.ts';
import { type Answers, alike, ask, collectAnswers, missingAnswers } from '../releases/answers.ts';
import { fill, git, ROOT_PASSWORD, ROOT_TOKEN } from '../releases/contents.ts';
import { startDebians } from './debians-postgres.ts';
import {
  callAs,
  cleanUp,
  databaseProcesses,
  killNow,
  launcher,
  makeFolder,
  type Program,
  startInVain,
  startProgram,
} from './support.ts';

afterAll(() => cleanUp());

const WRITERS = 50;
/** Each by each writer, at most. */
const MAX_ROUNDS = 200;
const document = JSON.parse(readFileSync(join(packageFolder, 'openapi.json'), 'utf8'));
// Answers have addresses in them.
const env = {
  ASHLAR_URL: 'http://ashlar.example',
  ASHLAR_ROOT_TOKEN: ROOT_TOKEN,
  ASHLAR_ROOT_PASSWORD: ROOT_PASSWORD,
};

type Run = { child: ChildProcess; ended: Promise<{ code: number | null; said: string }> };

/** A command beside the server of the data folder, or without one. */
function begin(data: string, args: string[], more: Record<string, string> = {}): Run {
  const child = spawn(process.execPath, [launcher, ...args], {
    env: { PATH: process.env.PATH, HOME: process.env.HOME, ASHLAR_DATA: data, ...more },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let said = '';
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding('utf8').on('data', (text: string) => {
      said += text;
    });
  return { child, ended: once(child, 'close').then(([code]) => ({ code, said })) };
}

/** With what its processes start meanwhile: the last of them would write to the folder, or remove from it, later on. */
async function killDatabase(data: string): Promise<void> {
  for (let alive = databaseProcesses(data); alive.length > 0; alive = databaseProcesses(data)) {
    for (const pid of alive) killNow(pid);
    await sleep(20);
  }
}

async function mustRun(data: string, args: string[], more: Record<string, string> = {}): Promise<string> {
  const { code, said } = await begin(data, args, more).ended;
  expect(code, said).toBe(0);
  return said;
}

// biome-ignore lint/suspicious/noExplicitAny: the test says what it expects of a body by reading it.
async function ok(called: Promise<Response>): Promise<any> {
  const response = await called;
  const text = await response.text();
  if (!response.ok) throw new Error(`${response.url}: ${response.status} ${text}`);
  return JSON.parse(text);
}

const as = (url: string, request: string, body?: unknown) => ok(callAs(url, ROOT_TOKEN, request, body));

/** Nothing waits behind the requests. */
async function settle(url: string): Promise<void> {
  for (const until = performance.now() + 120_000; performance.now() < until; await sleep(250)) {
    const text = await (await fetch(`${url}/-/metrics`)).text();
    const waiting = [...text.matchAll(/^waiting\{kind="(?:outbox|jobs)"\} (\d+)$/gm)];
    if (waiting.length === 2 && waiting.every(([, count]) => count === '0')) return;
  }
  throw new Error('work waits behind the requests still');
}

const answersOf = async (url: string): Promise<Answers> => {
  await settle(url);
  return collectAnswers(url, ROOT_TOKEN, document);
};

let program: Program;
let answers: Answers;
const backups = makeFolder();
const fileOf = (name: string): string => join(backups, `${name}.backup`);

beforeAll(async () => {
  program = await startProgram({ env });
  await fill(program.url);
  const all = alike(await answersOf(program.url), await answersOf(program.url)) as Answers;
  // Which processes work is not of the data.
  answers = Object.fromEntries(Object.entries(all).filter(([path]) => !path.startsWith('/sidekiq/')));
}, 300_000);

type Acknowledged = { project: number; at: number; path: string; expected: Record<string, unknown> };

/** Writes of every kind, one after the other, until it is told to end; what was acknowledged, and when. */
async function write(url: string, project: number, isOver: () => boolean): Promise<Acknowledged[]> {
  const all: Acknowledged[] = [];
  const acknowledged = (path: string, expected: Record<string, unknown>) =>
    all.push({ project, at: performance.now(), path: `/projects/${project}${path}`, expected });
  for (let round = 1; round <= MAX_ROUNDS && !isOver(); round++) {
    const at = `/projects/${project}`;
    const issue = await as(url, `POST ${at}/issues`, { title: `Issue ${round}` });
    acknowledged(`/issues/${issue.iid}`, { title: `Issue ${round}`, id: issue.id });
    const branch = `branch-${round}`;
    const commit = await as(url, `POST ${at}/repository/commits`, {
      branch,
      start_branch: 'main',
      commit_message: `Commit ${round}`,
      actions: [{ action: 'create', file_path: `file-${round}`, content: `${project} ${round}` }],
    });
    acknowledged(`/repository/branches/${branch}`, { name: branch, commit: { id: commit.id } });
    const request = await as(url, `POST ${at}/merge_requests`, {
      source_branch: branch,
      target_branch: 'main',
      title: `Request ${round}`,
    });
    acknowledged(`/merge_requests/${request.iid}`, { title: `Request ${round}`, sha: commit.id });
    const note = await as(url, `POST ${at}/merge_requests/${request.iid}/notes`, { body: `Note ${round}` });
    acknowledged(`/merge_requests/${request.iid}/notes/${note.id}`, { body: `Note ${round}` });
    const page = await as(url, `POST ${at}/wikis`, { title: `Page ${round}`, content: `${round}` });
    acknowledged(`/wikis/${page.slug}`, { content: `${round}` });
  }
  return all;
}

const folderOf = (data: string, id: number, wiki = false): string =>
  join(data, 'repositories', repositoryPath({ kind: 'project', id, wiki }));

const inGit = (folder: string, ...args: string[]): string =>
  execFileSync('git', ['-c', 'safe.directory=*', `--git-dir=${folder}`, ...args], {
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'pipe'],
    maxBuffer: 64 * 1_048_576,
  });

/** What rows say of a project is what its repository has, and nothing more. */
async function expectWhole({ url, data }: Program, project: number): Promise<void> {
  const folder = folderOf(data, project);
  inGit(folder, 'fsck', '--full', '--no-dangling');
  const refs = new Map(
    inGit(folder, 'for-each-ref', '--format=%(refname) %(objectname)')
      .split('\n')
      .filter((line) => line !== '')
      .map((line) => line.split(' ') as [string, string]),
  );
  const requests = new Map<string, string>();
  for (let page = 1, more = true; more; page++) {
    const list = await as(url, `GET /projects/${project}/merge_requests?per_page=100&page=${page}`);
    for (const { iid, sha } of list) requests.set(`refs/merge-requests/${iid}/head`, sha);
    more = list.length > 0;
  }
  const heads = [...refs].filter(([name]) => /^refs\/merge-requests\/\d+\/head$/.test(name));
  expect(new Map(heads)).toEqual(requests);
  const pushed = new Map<string, string>();
  for (let page = 1, more = true; more; page++) {
    const list = await as(url, `GET /projects/${project}/events?action=pushed&per_page=100&page=${page}`);
    for (const { push_data: push } of list)
      if (push.ref_type === 'branch' && !pushed.has(`refs/heads/${push.ref}`))
        pushed.set(`refs/heads/${push.ref}`, push.commit_to);
    more = list.length > 0;
  }
  const branches = [...refs].filter(([name]) => name.startsWith('refs/heads/'));
  expect(Object.fromEntries(branches)).toEqual(Object.fromEntries(pushed));
  if (existsSync(folderOf(data, project, true)))
    inGit(folderOf(data, project, true), 'fsck', '--full', '--no-dangling');
}

test('what was acknowledged before the backup began is there, and nothing is there by half', async () => {
  const { url } = program;
  const projects: number[] = [];
  for (let each = 1; each <= WRITERS; each++) {
    const { id } = await as(url, 'POST /projects', { name: `Written ${each}`, wiki_access_level: 'enabled' });
    await as(url, `POST /projects/${id}/repository/commits`, {
      branch: 'main',
      commit_message: 'Begin',
      actions: [{ action: 'create', file_path: 'README.md', content: `${each}` }],
    });
    projects.push(id);
  }
  let isOver = false;
  const writers = projects.map((project) => write(url, project, () => isOver));
  await sleep(5_000);
  const began = performance.now();
  await mustRun(program.data, ['backup', fileOf('busy')]);
  const tookUntil = performance.now();
  isOver = true;
  const acknowledged = (await Promise.all(writers)).flat();
  const before = acknowledged.filter(({ at }) => at < began);
  expect(before.length).toBeGreaterThan(WRITERS);
  expect(acknowledged.filter(({ at }) => at > began && at < tookUntil).length).toBeGreaterThan(20);
  await settle(url);
  // What the writers changed, such as the list of all projects, is left out.
  const kept: Answers = {};
  for (const [path, before] of Object.entries(answers))
    if (isDeepStrictEqual(alike(before, await ask(url, ROOT_TOKEN, path)), before)) kept[path] = before;
  answers = kept;
  expect(Object.keys(answers).length).toBeGreaterThan(500);

  const data = join(makeFolder(), 'data');
  await mustRun(data, ['restore', fileOf('busy')]);
  const restored = await startProgram({ data, env });
  await settle(restored.url);
  expect(await missingAnswers(restored.url, ROOT_TOKEN, answers, 0)).toEqual([]);
  for (const { path, expected } of before)
    expect(await as(restored.url, `GET ${path}`)).toMatchObject(expected);
  for (const project of projects) await expectWhole(restored, project);
  await restored.stop();
}, 900_000);

test("from an embedded database into Debian's PostgreSQL, and back", async () => {
  await mustRun(program.data, ['backup', fileOf('embedded')]);
  const debians = await startDebians();
  try {
    const between = join(makeFolder(), 'data');
    const there = { DATABASE_URL: debians.create('ashlar') };
    await mustRun(between, ['restore', fileOf('embedded')], there);
    const second = await startProgram({ data: between, env: { ...env, ...there } });
    await settle(second.url);
    expect(await missingAnswers(second.url, ROOT_TOKEN, answers, 0)).toEqual([]);
    await mustRun(between, ['backup', fileOf('debians')], there);
    await second.stop();
    const { code, said } = await begin(join(makeFolder(), 'data'), ['restore', fileOf('debians')], there)
      .ended;
    expect(code).toBe(1);
    expect(said).toMatch(/the database has tables already .*: a restore needs an empty one/);
  } finally {
    await debians.stop();
  }
  const back = join(makeFolder(), 'data');
  await mustRun(back, ['restore', fileOf('debians')]);
  const third = await startProgram({ data: back, env });
  await settle(third.url);
  expect(await missingAnswers(third.url, ROOT_TOKEN, answers, 0)).toEqual([]);
  await third.stop();
}, 600_000);

test('standard output takes a backup, a pipe that breaks ends it, and an encrypted one needs its key', async () => {
  const folder = makeFolder();
  const shell = (script: string) =>
    spawn('/bin/bash', ['-o', 'pipefail', '-c', script], {
      env: { ...process.env, ASHLAR_DATA: program.data, NODE: process.execPath, ASHLAR: launcher },
      cwd: folder,
      stdio: ['ignore', 'ignore', 'ignore'],
    });
  const [whole] = await once(shell('"$NODE" "$ASHLAR" backup - | cat > piped.backup'), 'close');
  expect(whole).toBe(0);
  expect(await mustRun(program.data, ['verify', join(folder, 'piped.backup')])).toMatch(
    /is whole: \d+ entries/,
  );
  const [broken] = await once(shell('"$NODE" "$ASHLAR" backup - | head -c 1000 > broken.backup'), 'close');
  expect(broken).not.toBe(0);
  const { code, said } = await begin(program.data, ['verify', join(folder, 'broken.backup')]).ended;
  expect(code).toBe(1);
  expect(said).toMatch(/broken\.backup cannot be restored: it (ends before its end|is damaged, cut off)/);

  const { generateIdentity, identityToRecipient } = await import('age-encryption');
  const identity = await generateIdentity();
  writeFileSync(join(folder, 'key'), `${identity}\n`);
  const sealed = join(folder, 'sealed.backup');
  await mustRun(program.data, ['backup', sealed, '--recipient', await identityToRecipient(identity)]);
  expect(readFileSync(sealed).includes('ref: refs/heads')).toBe(false);
  expect((await begin(program.data, ['verify', sealed]).ended).said).toMatch(
    /it is encrypted: name the file of the key/,
  );
  expect(await mustRun(program.data, ['verify', sealed, '--identity', join(folder, 'key')])).toMatch(
    /is whole/,
  );
}, 300_000);

test('the server makes backups by the clock, and keeps so many', async () => {
  const folder = makeFolder();
  const data = join(makeFolder(), 'data');
  const old = 'ashlar-20200101T000000Z.backup';
  writeFileSync(join(folder, old), '');
  const clocked = await startProgram({
    data,
    env: { ...env, ASHLAR_BACKUPS: folder, ASHLAR_BACKUP_SCHEDULE: '* * * * *', ASHLAR_BACKUP_KEEP: '1' },
  });
  const made = () => readdirSync(folder).filter((name) => name.endsWith('.backup') && name !== old);
  await expect.poll(made, { timeout: 130_000, interval: 500 }).toHaveLength(1);
  await expect.poll(() => readdirSync(folder), { timeout: 30_000 }).not.toContain(old);
  const metrics = await (await fetch(`${clocked.url}/-/metrics`)).text();
  expect(metrics).toMatch(/^backup_age_seconds [\d.]+$/m);
  expect(await clocked.stop()).toEqual({ code: 0, signal: null });
  expect(await mustRun(data, ['verify', join(folder, made()[0] ?? '')])).toMatch(/is whole/);
}, 600_000);

test('kill -9 of the backup, the restore or the program: no half backup counts, and nothing starts on a half restore', async () => {
  const small = await startProgram({ env });
  const { data } = small;
  await as(small.url, 'POST /projects', { name: 'Kept', initialize_with_readme: true });
  const good = fileOf('small');
  const began = performance.now();
  await mustRun(data, ['backup', good]);
  const took = performance.now() - began;
  await small.stop();
  for (let round = 0; round < 20; round++) {
    const victim = (['backup', 'restore', 'program'] as const)[round % 3] ?? 'backup';
    const file = fileOf(`round-${round}`);
    if (victim === 'restore') {
      const into = join(makeFolder(), 'data');
      const { child, ended } = begin(into, ['restore', good]);
      await sleep(randomInt(Math.ceil(2 * took)));
      killNow(child.pid ?? 0);
      await ended;
      await killDatabase(into);
      if (existsSync(join(into, '.restore-unfinished'))) {
        const start = await startInVain(into);
        expect(start.code).toBe(1);
        expect(start.output).toMatch(/a restore into .* was interrupted: remove what is in the folder/);
        const again = await begin(into, ['restore', good]).ended;
        expect(again.said).toMatch(/an earlier restore into .* was interrupted/);
        await rm(into, { recursive: true });
      }
      // Without the mark it had ended, or not begun.
      if (!existsSync(into) || readdirSync(into).length === 0) await mustRun(into, ['restore', good]);
      const restored = await startProgram({ data: into, env });
      expect(await as(restored.url, 'GET /projects')).toMatchObject([{ name: 'Kept' }]);
      await restored.stop();
      continue;
    }
    const serving = await startProgram({ data, env });
    const { child, ended } = begin(data, ['backup', file]);
    await sleep(randomInt(Math.ceil(1.2 * took)));
    if (victim === 'backup') killNow(child.pid ?? 0);
    else for (const pid of [serving.pid, ...databaseProcesses(data)]) killNow(pid);
    const { code } = await ended;
    if (existsSync(file)) expect(await mustRun(data, ['verify', file])).toMatch(/is whole/);
    else expect(code).not.toBe(0);
    if (victim === 'program') await serving.ended;
    else {
      // What the dead one held is free for the next.
      await mustRun(data, ['backup', file]);
      await serving.stop();
    }
  }
  const last = await startProgram({ data, env });
  expect(await as(last.url, 'GET /projects')).toMatchObject([{ name: 'Kept' }]);
  await last.stop();
}, 1_200_000);

test('a folder that git wrote to is in the backup as git has it', async () => {
  const home = makeFolder();
  const { id, path_with_namespace: path } = await as(program.url, 'POST /projects', { name: 'Pushed' });
  const address = `${program.url.replace('//', `//root:${ROOT_TOKEN}@`)}/${path}.git`;
  git(home, 'init', '-q');
  writeFileSync(join(home, 'a'), 'a');
  git(home, 'add', '.');
  git(home, 'commit', '-qm', 'One');
  git(home, 'tag', '-am', 'Tag', 'v1');
  git(home, 'push', '-q', address, 'main', 'v1');
  await mustRun(program.data, ['backup', fileOf('pushed'), '--base', fileOf('embedded')]);
  const into = join(makeFolder(), 'data');
  await mustRun(into, ['restore', fileOf('pushed')]);
  const refs = (data: string): string => inGit(folderOf(data, id), 'for-each-ref');
  expect(refs(into)).toBe(refs(program.data));
  inGit(folderOf(into, id), 'fsck', '--full');
}, 300_000);
