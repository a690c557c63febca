/** Data after an end without warning: kill -9 of the program, of its database, of both; and orderly ends. */
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { request as httpRequest, type IncomingMessage } from 'node:http';
import { connect } from 'node:net';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, expect, test } from 'vitest';
import {
  callAs,
  cleanUp,
  databaseProcesses,
  killNow,
  launcher,
  makeFolder,
  type Program,
  postmaster,
  ROOT_TOKEN,
  startInVain,
  startProgram,
} from './support.ts';

afterAll(() => cleanUp());

const victims = {
  'the program': (program: Program) => [program.pid],
  'the database': (program: Program) => [postmaster(program.data)],
  both: (program: Program) => [postmaster(program.data), program.pid],
  'a process of the database': (program: Program) => [
    // A backend: the server ends all others and recovers.
    ...databaseProcesses(program.data)
      .filter((pid) => readFileSync(`/proc/${pid}/cmdline`, 'utf8').startsWith('postgres: ashlar '))
      .slice(0, 1),
  ],
};
const ROUNDS_EACH = 5;
const CLIENTS = 8;

/** Acknowledged names (201), by kind. */
type Acknowledged = { users: Set<string>; projects: Set<string> };

/** Clients write at once until `enough` writes are acknowledged; then `strike` comes down while others are under way. */
async function writeUntilStruck(
  program: Program,
  round: string,
  enough: number,
  strike: () => void,
): Promise<Acknowledged> {
  const acknowledged: Acknowledged = { users: new Set(), projects: new Set() };
  let struck = false;
  const client = async (number: number): Promise<void> => {
    for (let written = 0; !struck; written++) {
      const name = `r${round}-c${number}-${written}`;
      const kind = number === 0 ? 'users' : 'projects';
      const user = { username: name, name, email: `${name}@example.com`, force_random_password: true };
      const response = await program
        .root(`POST /${kind}`, kind === 'users' ? user : { name, path: name })
        .catch(() => undefined);
      if (response?.status === 201) acknowledged[kind].add(name);
      await response?.text().catch(() => undefined);
      if (!response || acknowledged.projects.size + acknowledged.users.size >= enough) {
        if (!struck) strike();
        struck = true;
      }
    }
  };
  await Promise.all(Array.from({ length: CLIENTS }, (_, number) => client(number)));
  return acknowledged;
}

/** Every name that a list shows, read by keyset to its end. */
async function readAll(
  program: Program,
  kind: keyof Acknowledged,
  name: 'username' | 'path',
): Promise<Set<string>> {
  const names = new Set<string>();
  let link: string | undefined = `${program.url}/api/v4/${kind}?pagination=keyset&per_page=100&simple=true`;
  for (let page = 0; link !== undefined && page < 1_000; page++) {
    const response = await fetch(link, { headers: { 'private-token': ROOT_TOKEN } });
    expect(response.status).toBe(200);
    for (const record of (await response.json()) as Record<string, string>[]) names.add(record[name] ?? '');
    link = /<([^>]+)>; rel="next"/.exec(response.headers.get('link') ?? '')?.[1];
  }
  return names;
}

/** The program is ready again, and none of its connections is stuck. */
async function expectToGoOn(program: Program): Promise<void> {
  const readiness = () => fetch(`${program.url}/-/readiness`).then(({ status }) => status);
  const ended = program.ended.then(() => Promise.reject(new Error(`the program ended: ${program.output()}`)));
  await Promise.race([expect.poll(readiness, { timeout: 15_000 }).toBe(200), ended]);
  const statuses = async () => {
    const responses = await Promise.all(Array.from({ length: 40 }, () => program.root('GET /projects')));
    return responses.map(({ status }) => status);
  };
  await expect.poll(statuses, { timeout: 15_000 }).toEqual(Array.from({ length: 40 }, () => 200));
}

const missingFrom = (present: Set<string>, expected: Set<string>): string[] =>
  [...expected].filter((name) => !present.has(name));

test('after kill -9 the next start serves, and every acknowledged write is there', async () => {
  const data = join(makeFolder(), 'data');
  const all: Acknowledged = { users: new Set(), projects: new Set() };
  const check = async (program: Program) => {
    expect((await fetch(`${program.url}/-/readiness`)).status).toBe(200);
    const users = await readAll(program, 'users', 'username');
    const projects = await readAll(program, 'projects', 'path');
    expect(missingFrom(users, all.users)).toEqual([]);
    expect(missingFrom(projects, all.projects)).toEqual([]);
  };
  for (let round = 0; round < ROUNDS_EACH; round++) {
    for (const [victim, pick] of Object.entries(victims)) {
      const program = await startProgram({ data });
      await check(program);
      const written = await writeUntilStruck(program, `${round}${victim.length}`, 10 + 7 * round, () => {
        for (const pid of pick(program)) killNow(pid);
      });
      for (const name of written.users) all.users.add(name);
      for (const name of written.projects) all.projects.add(name);
      if (victim === 'a process of the database') await expectToGoOn(program);
      if (victim === 'the database') expect(await program.ended).toEqual({ code: 1, signal: null });
      else program.kill('SIGKILL');
      await program.ended;
    }
  }
  expect(all.projects.size).toBeGreaterThan(ROUNDS_EACH * 20);
  expect(all.users.size).toBeGreaterThan(0);
  const program = await startProgram({ data });
  await check(program);
  await program.stop();
});

test('SIGTERM lets a request in flight end, refuses new ones, and stops the database', async () => {
  const program = await startProgram();
  // As browsers open them in advance.
  const silent = connect(Number(new URL(program.url).port), '127.0.0.1');
  await once(silent, 'connect');
  const body = JSON.stringify({ name: 'in-flight', path: 'in-flight' });
  const slow = httpRequest(`${program.url}/api/v4/projects`, {
    method: 'POST',
    headers: {
      'private-token': ROOT_TOKEN,
      'content-type': 'application/json',
      'content-length': Buffer.byteLength(body),
      expect: '100-continue',
    },
  });
  const answered = once(slow, 'response');
  slow.flushHeaders();
  // The server says this once it has begun with the request; the body follows when the program is stopping.
  await once(slow, 'continue');
  program.kill('SIGTERM');
  await expect.poll(() => program.output()).toContain('Ashlar stops: SIGTERM');
  await expect
    .poll(() =>
      fetch(`${program.url}/-/liveness`).then(
        ({ status }) => status,
        () => 'closed',
      ),
    )
    .toBe('closed');
  expect(databaseProcesses(program.data)).not.toEqual([]);
  await expect.poll(() => silent.closed).toBe(true);
  slow.end(body);
  const [response] = (await answered) as [IncomingMessage];
  expect(response.statusCode).toBe(201);
  response.resume();
  expect(await program.ended, program.output()).toEqual({ code: 0, signal: null });
  expect(databaseProcesses(program.data)).toEqual([]);

  const again = await startProgram({ data: program.data });
  expect((await again.root('GET /projects/root%2Fin-flight')).status).toBe(200);
  await again.stop();
});

test('a program whose log nobody reads any more serves on, and stops when it is told to', async () => {
  const program = await startProgram();
  program.hangUp();
  // Each is a line of the log that cannot be written, some time after its response.
  for (let request = 0; request < 3; request++) {
    expect((await program.root('GET /user')).status).toBe(200);
    await sleep(500);
  }
  expect(await program.stop()).toEqual({ code: 0, signal: null });
});

test('a second start on a data folder in use ends with one clear line, and harms the first in nothing', async () => {
  const program = await startProgram();
  const second = await startInVain(program.data);
  expect(second).toEqual({
    code: 1,
    signal: null,
    output: `ashlar: data folder ${program.data}: in use by process ${program.pid}; stop that first, or choose another folder with ASHLAR_DATA\n`,
  });
  expect((await program.root('GET /user')).status).toBe(200);
  expect(await program.stop()).toEqual({ code: 0, signal: null });
});

test('kill -9 of the launcher, which runs where Node is older, leaves nothing running', async () => {
  const older =
    "Object.defineProperty(process, 'versions', { value: { ...process.versions, node: '20.19.0' } })";
  const program = await startProgram({
    command: ['--import', `data:text/javascript,${encodeURIComponent(older)}`, launcher, 'serve'],
  });
  const serving = Number(readFileSync(join(program.data, 'pid'), 'utf8'));
  expect(serving).not.toBe(program.pid);
  expect((await callAs(program.url, ROOT_TOKEN, 'GET /user')).status).toBe(200);
  program.kill('SIGKILL');
  // Its streams are the serving process's too: they end with that.
  await program.ended;
  await expect.poll(() => databaseProcesses(program.data), { timeout: 15_000 }).toEqual([]);
  await expect.poll(() => isAlive(serving), { timeout: 15_000 }).toBe(false);
});

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}
