/** kill -9 while merge requests are merged, squashed and rebased: each is then merged and recorded, once, or open and mergeable. */
import { spawnSync } from 'node:child_process';
import { randomInt } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, expect, test } from 'vitest';
import { projectRepository, repositoryPath } from '../../src/domain/repositories/store/containers.ts';
import { connect } from '../../src/platform/db/database.ts';
import { reachEmbedded } from '../../src/platform/db/embedded/embedded.ts';
import {
  cleanUp,
  databaseProcesses,
  killNow,
  makeFolder,
  type Program,
  ROOT_TOKEN,
  startProgram,
} from './support.ts';

afterAll(() => cleanUp());

const ROUNDS = 21;
const BRANCHES = 6;
/** Each round starts the program anew, which takes a busy machine a while. */
const TIMEOUT_MS = 1_200_000;
/** Answers after which the program is killed, at most: others are under way then. */
const MAX_ANSWERS = 5;
/** Milliseconds between such an answer and the kill, at most: about what a merge takes. */
const MAX_DELAY_MS = 80;
const methods = ['merge', 'rebase_merge', 'ff'] as const;
const numbers = Array.from({ length: BRANCHES }, (_, at) => at + 1);

/** With each goes what waits for the program alone, or is also gone without warning. */
const victims = {
  'the program': ({ pid }: Program) => [pid],
  'the program and its git': ({ pid, data }: Program) => {
    const database = databaseProcesses(data);
    return [pid, ...descendants(pid)].filter((each) => !database.includes(each));
  },
  'the program and its database': ({ pid, data }: Program) => [...databaseProcesses(data), pid],
};

/** The processes that a process started, and theirs. */
function descendants(pid: number): number[] {
  const children = readdirSync('/proc').filter((name) => {
    try {
      // The name of the program is in parentheses; the parent is the second field after it.
      const [, parent] = /^.*\) \S (\d+)/s.exec(readFileSync(`/proc/${name}/stat`, 'utf8')) ?? [];
      return Number(parent) === pid;
    } catch {
      // It is no process, or has ended meanwhile.
      return false;
    }
  });
  return children.map(Number).flatMap((child) => [child, ...descendants(child)]);
}

type Round = {
  project: number;
  method: (typeof methods)[number];
  /** Numbers of merge requests, by the commit that the response named. */
  acknowledged: Map<number, string | null>;
};
type Record = {
  iid: number;
  state: string;
  sha: string;
  merge_commit_sha: string | null;
  squash_commit_sha: string | null;
  detailed_merge_status: string;
};

const git = (folder: string, ...args: string[]): string => {
  const run = ['-c', 'safe.directory=*', '-c', 'user.name=Ada', '-c', 'user.email=ada@example.com'];
  const { status, stdout, stderr } = spawnSync('git', [...run, '-C', folder, ...args], { encoding: 'utf8' });
  expect(status, `git ${args.join(' ')}: ${stderr}`).toBe(0);
  return stdout;
};
const linesOf = (text: string): string[] => text.split('\n').filter((line) => line !== '');

/** `main`, and branches of it with two commits each, of files of their own. */
function makeSource(): string {
  const folder = makeFolder();
  git(folder, 'init', '-q', '-b', 'main');
  git(folder, 'commit', '-q', '--allow-empty', '-m', 'First');
  for (const number of numbers) {
    git(folder, 'checkout', '-q', '-b', `topic-${number}`, 'main');
    for (const part of ['a', 'b']) {
      const blob = spawnSync('git', ['-C', folder, 'hash-object', '-w', '--stdin'], {
        input: `${number} ${part}\n`,
        encoding: 'utf8',
      });
      const entry = `100644,${blob.stdout.trim()},${number}${part}.txt`;
      git(folder, 'update-index', '--add', '--cacheinfo', entry);
      git(folder, 'commit', '-q', '-m', `Add ${number}${part}`);
    }
  }
  return folder;
}

const bodyOf = async (response: Promise<Response>, status: number) => {
  const { status: given, text } = await response.then(async (each) => ({
    status: each.status,
    text: await each.text(),
  }));
  expect(given, text).toBe(status);
  return JSON.parse(text);
};

/** A project with an open merge request from each branch; every second one is squashed, every third takes its branch along. */
async function makeRound(program: Program, source: string, round: number): Promise<Round> {
  const method = methods[round % methods.length] ?? 'merge';
  const name = `round-${round}`;
  const { id } = await bodyOf(
    program.root('POST /projects', { name, path: name, merge_method: method }),
    201,
  );
  const url = `${program.url.replace('//', `//oauth2:${ROOT_TOKEN}@`)}/root/${name}.git`;
  git(source, 'push', '-q', url, 'main');
  git(source, 'push', '-q', '--all', url);
  for (const number of numbers) {
    const body = {
      title: `Topic ${number}`,
      source_branch: `topic-${number}`,
      target_branch: 'main',
      squash: number % 2 === 0,
      remove_source_branch: number % 3 === 0,
    };
    const made = await bodyOf(program.root(`POST /projects/${id}/merge_requests`, body), 201);
    expect(made).toMatchObject({ iid: number, merge_status: 'can_be_merged' });
  }
  return { project: id, method, acknowledged: new Map() };
}

/** Merges these at once, and rebases what needs it, until the program is gone; `onAnswer` gets the number of answers. */
async function mergeAll(
  program: Program,
  { project, acknowledged }: Round,
  iids: readonly number[],
  onAnswer: (answers: number) => void = () => {},
): Promise<void> {
  let answers = 0;
  const send = async (request: string): Promise<{ status: number; body: Record } | undefined> => {
    try {
      const response = await program.root(`PUT /projects/${project}/merge_requests/${request}`);
      const body = (await response.json()) as Record;
      onAnswer(++answers);
      return { status: response.status, body };
    } catch {
      return undefined;
    }
  };
  const client = async (iid: number): Promise<void> => {
    // Every third is rebased first, whether it needs that or not.
    let next = iid % 3 === 1 ? 'rebase' : 'merge';
    for (let answered = await send(`${iid}/${next}`); answered; answered = await send(`${iid}/${next}`)) {
      const { status, body } = answered;
      // The database went first.
      if (status === 503) return;
      expect(status, JSON.stringify(body)).toBeOneOf([200, 202, 405, 422]);
      if (status === 200) {
        expect(body.state).toBe('merged');
        acknowledged.set(iid, body.merge_commit_sha);
        return;
      }
      next = status === 202 ? 'merge' : 'rebase';
    }
  };
  await Promise.all(iids.map(client));
}

const folderOf = ({ data }: Program, { project }: Pick<Round, 'project'>): string =>
  join(data, 'repositories', repositoryPath(projectRepository(project)));

const read = (program: Program, { project }: Round): Promise<Record[]> =>
  bodyOf(
    program.root(`GET /projects/${project}/merge_requests?order_by=created_at&sort=asc&per_page=100`),
    200,
  );

/** The project's repository is sound, and has what the merge requests say, once. */
async function checkRepository(program: Program, round: Round): Promise<void> {
  const folder = folderOf(program, round);
  expect(git(folder, 'fsck', '--full', '--strict', '--no-dangling')).toBe('');
  const records = await read(program, round);
  const merged = records.filter(({ state }) => state === 'merged');
  const heads = new Map(
    linesOf(git(folder, 'for-each-ref', '--format=%(refname:short) %(objectname)', 'refs/heads')).map(
      (line) => line.split(' ') as [string, string],
    ),
  );
  for (const { iid, state, sha } of records) {
    expect(['opened', 'merged']).toContain(state);
    expect(git(folder, 'rev-parse', `refs/merge-requests/${iid}/head`).trim()).toBe(sha);
    if (state === 'opened') expect(heads.get(`topic-${iid}`)).toBe(sha);
  }
  const files = linesOf(git(folder, 'ls-tree', '--name-only', 'main')).sort();
  expect(files).toEqual(merged.flatMap(({ iid }) => [`${iid}a.txt`, `${iid}b.txt`]).sort());

  const commits = linesOf(git(folder, 'log', '--format=%H %P|%s', 'main')).map((line) => {
    const [ids = '', title = ''] = line.split('|');
    const [oid, ...parents] = ids.split(' ').filter((each) => each !== '');
    return { oid, parents, title };
  });
  const own = merged.flatMap(({ iid }) =>
    iid % 2 === 0 ? [`Topic ${iid}`] : [`Add ${iid}a`, `Add ${iid}b`],
  );
  const joining = commits.filter(({ parents }) => parents.length > 1);
  const others = commits.filter(({ parents }) => parents.length < 2).map(({ title }) => title);
  expect(others.sort()).toEqual(['First', ...own].sort());
  expect(joining).toHaveLength(round.method === 'ff' ? 0 : merged.length);
  for (const { iid, sha, squash_commit_sha, merge_commit_sha } of merged) {
    const source = squash_commit_sha ?? sha;
    expect([iid, squash_commit_sha !== null]).toEqual([iid, iid % 2 === 0]);
    expect(commits.map(({ oid }) => oid)).toContain(source);
    const joins = joining.filter(({ parents }) => parents[1] === source).map(({ oid }) => oid);
    expect(joins).toEqual(round.method === 'ff' ? [] : [merge_commit_sha]);
    if (round.method === 'ff') expect(merge_commit_sha).toBeNull();
  }
  const events = await bodyOf(
    program.root(`GET /projects/${round.project}/events?action=merged&per_page=100`),
    200,
  );
  expect(events.map((event: { target_iid: number }) => event.target_iid).sort()).toEqual(
    merged.map(({ iid }) => iid).sort(),
  );
}

/** Everything that was begun is done or undone: nothing is locked, open ones tell of their branches and can be merged. */
async function waitForReconciling(program: Program, round: Round): Promise<void> {
  const folder = folderOf(program, round);
  const unsettled = async () =>
    (await read(program, round)).filter(
      ({ iid, state, sha, detailed_merge_status }) =>
        !(
          ['merged', 'closed'].includes(state) ||
          (state === 'opened' &&
            ['mergeable', 'need_rebase'].includes(detailed_merge_status) &&
            git(folder, 'rev-parse', `topic-${iid}`).trim() === sha)
        ),
    );
  // What reconciles runs once a minute.
  await expect.poll(unsettled, { timeout: 180_000, interval: 500 }).toEqual([]);
}

test(
  'after kill -9 each merge request is merged and recorded once, or open and mergeable',
  async () => {
    const data = join(makeFolder(), 'data');
    const source = makeSource();
    const rounds: Round[] = [];
    let program = await startProgram({ data });
    for (let number = 0; number < ROUNDS; number++) {
      const round = await makeRound(program, source, number);
      rounds.push(round);
      const kinds = Object.values(victims);
      const pick = kinds[Math.floor(number / methods.length) % kinds.length] ?? victims['the program'];
      const [enough, delay] = [1 + randomInt(MAX_ANSWERS), randomInt(MAX_DELAY_MS)];
      const struck = Promise.withResolvers<void>();
      const killed = struck.promise
        .then(() => sleep(delay))
        .then(() => {
          for (const pid of pick(program)) killNow(pid);
        });
      await mergeAll(program, round, numbers, (answers) => {
        if (answers >= enough) struck.resolve();
      });
      await killed;
      await program.ended;
      program = await startProgram({ data });
      // What was acknowledged is there at once.
      const found = new Map((await read(program, round)).map((each) => [each.iid, each]));
      for (const [iid, merge_commit_sha] of round.acknowledged)
        expect(found.get(iid)).toMatchObject({ state: 'merged', merge_commit_sha });
    }
    for (const round of rounds) {
      await waitForReconciling(program, round);
      await checkRepository(program, round);
    }

    let [merged, interrupted] = [0, 0];
    for (const round of rounds) {
      const records = await read(program, round);
      const open = records.filter(({ state }) => state === 'opened').map(({ iid }) => iid);
      interrupted += open.length;
      merged += records.length - open.length;
      await mergeAll(program, round, open);
      await checkRepository(program, round);
      expect((await read(program, round)).map(({ state }) => state)).toEqual(numbers.map(() => 'merged'));
    }
    // Otherwise the kills came before all merges, or after them.
    expect(merged).toBeGreaterThan(0);
    expect(interrupted).toBeGreaterThan(0);
    const branches = async () => {
      const all = rounds.map(({ project }) =>
        bodyOf(program.root(`GET /projects/${project}/repository/branches?search=topic`), 200),
      );
      return [...new Set((await Promise.all(all)).flat().map(({ name }: { name: string }) => name))].sort();
    };
    const kept = numbers.filter((each) => each % 3 !== 0).map((each) => `topic-${each}`);
    await expect.poll(branches, { timeout: 60_000 }).toEqual(kept);
    expect(await program.stop(), program.output()).toEqual({ code: 0, signal: null });
  },
  TIMEOUT_MS,
);

test('what was pushed and merged when the program died is followed by the next, though nothing recorded it', async () => {
  const dying = await startProgram();
  const { data } = dying;
  const round = await makeRound(dying, makeSource(), 0);
  const path = `/projects/${round.project}`;
  const commitTo = (branch: string, file_path: string) =>
    dying.root(`POST ${path}/repository/commits`, {
      branch,
      commit_message: `Add ${file_path}`,
      actions: [{ action: 'create', file_path, content: file_path }],
    });
  await bodyOf(commitTo('main', 'later.txt'), 201);
  const folder = folderOf(dying, round);
  const headOf = (branch: string): string =>
    git(folder, 'for-each-ref', '--format=%(objectname)', `refs/heads/${branch}`);
  const before = new Map(['main', 'topic-2', 'topic-3', 'topic-4'].map((each) => [each, headOf(each)]));

  // The record of each write waits for this row; its beginning does not.
  const target = await reachEmbedded(data);
  if (!target) throw new Error('the database cannot be reached');
  const sql = connect(target, { max: 1, statementTimeout: 0, name: 'tests' });
  const connection = await sql.reserve();
  await connection`begin`;
  await connection`select from repositories for share`;
  const unanswered = [
    dying.root(`PUT ${path}/merge_requests/1/merge`),
    dying.root(`PUT ${path}/merge_requests/2/rebase`),
    commitTo('topic-3', 'more.txt'),
    dying.root(`DELETE ${path}/repository/branches/topic-4`),
  ].map((response) => response.catch(() => undefined));
  for (const [branch, head] of before)
    await expect.poll(() => headOf(branch), { timeout: 20_000 }).not.toBe(head);
  dying.kill('SIGKILL');
  await dying.ended;
  await Promise.all(unanswered);
  await sql.end({ timeout: 0 }).catch(() => {});

  const program = await startProgram({ data });
  const states = async () => (await read(program, round)).map(({ state }) => state);
  // What reconciles runs once a minute.
  const soon = { timeout: 180_000, interval: 500 };
  await expect.poll(states, soon).toEqual(['merged', 'opened', 'opened', 'closed', 'opened', 'opened']);
  await waitForReconciling(program, { ...round });
  const [merged] = await read(program, round);
  expect(merged?.merge_commit_sha).toBe(headOf('main').trim());
  const notes = await bodyOf(program.root(`GET ${path}/merge_requests/3/notes`), 200);
  expect(notes).toMatchObject([{ system: true, body: expect.stringContaining('Add more.txt') }]);
  expect(await program.stop(), program.output()).toEqual({ code: 0, signal: null });
});
