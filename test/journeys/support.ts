/** The real program for a journey: `node bin/ashlar.js serve` as a child, on a free loopback port and a folder of its own. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readdirSync, readFileSync, readlinkSync, realpathSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { draftOf } from '../../src/platform/db/embedded/move-cluster.ts';

export const ROOT_TOKEN = 'glpat-root-token-of-the-journeys';
export const ROOT_PASSWORD = 'correct horse battery';

export const launcher = join(import.meta.dirname, '..', '..', 'bin', 'ashlar.js');

export type Ended = { code: number | null; signal: NodeJS.Signals | null };

export type Program = {
  /** The address that it printed, such as `http://127.0.0.1:40001`. */
  readonly url: string;
  readonly data: string;
  readonly pid: number;
  /** Its latest output, on both streams. */
  output(): string;
  /** As root, below /api/v4. */
  root(request: string, body?: unknown): Promise<Response>;
  kill(signal: NodeJS.Signals): void;
  /** Closes the reading ends of its output. */
  hangUp(): void;
  ended: Promise<Ended>;
  /** SIGTERM, and its end. */
  stop(): Promise<Ended>;
};

const folders: string[] = [];
const children: ChildProcess[] = [];

/** A new folder below the temporary one, removed by cleanUp(). */
export function makeFolder(): string {
  const folder = mkdtempSync(join(realpathSync(tmpdir()), 'journey-'));
  folders.push(folder);
  return folder;
}

/** A port of this machine that nobody listens on, for a program that cannot choose one itself. */
export async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  server.close();
  await once(server, 'close');
  if (address === null || typeof address === 'string') throw new Error('no port');
  return address.port;
}

/** In characters: enough for the last error. */
const OUTPUT_KEPT = 65_536;

/** Runs Node with arguments. Nothing of our own environment's settings is passed on. */
function launch(data: string, env: Record<string, string> = {}, command: string[] = [launcher, 'serve']) {
  const inherited = Object.entries(process.env).filter(
    ([name]) => !/^(ASHLAR_|DATABASE_URL|NODE_|VITEST)/.test(name),
  );
  const child = spawn(process.execPath, command, {
    env: {
      ...Object.fromEntries(inherited),
      ASHLAR_DATA: data,
      ASHLAR_PORT: '0',
      ASHLAR_ROOT_TOKEN: ROOT_TOKEN,
      ASHLAR_ROOT_PASSWORD: ROOT_PASSWORD,
      ...env,
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  children.push(child);
  let output = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (text: string) => {
      output = (output + text).slice(-OUTPUT_KEPT);
    });
  }
  // 'close': when the streams have ended too, and its output is complete.
  const ended = once(child, 'close').then(([code, signal]): Ended => ({ code, signal }));
  return { child, ended, output: () => output };
}

/**
 * Starts the program and waits for its address; throws with its output when it ends first. `command` is what
 * Node runs in the place of `bin/ashlar.js serve`.
 */
export async function startProgram(
  options: { data?: string; env?: Record<string, string>; command?: string[] } = {},
): Promise<Program> {
  const data = options.data ?? join(makeFolder(), 'data');
  const { child, ended, output } = launch(data, options.env, options.command);
  const address = () => /^Ashlar serves .*?(http:\S+?)\)?$/m.exec(output())?.[1];
  const end = { reached: false };
  void ended.then(() => {
    end.reached = true;
  });
  for (let waited = 0; address() === undefined && !end.reached && waited < 60_000; waited += 10)
    await sleep(10);
  const url = address();
  if (url === undefined || child.pid === undefined) {
    child.kill('SIGKILL');
    throw new Error(`the program did not start: ${output()}`);
  }
  return {
    url,
    data,
    pid: child.pid,
    output,
    ended,
    root: (request, body) => callAs(url, ROOT_TOKEN, request, body),
    kill: (signal) => child.kill(signal),
    hangUp: () => {
      child.stdout.destroy();
      child.stderr.destroy();
    },
    stop: () => {
      child.kill('SIGTERM');
      return ended;
    },
  };
}

/** Starts the program where it must not start; its end, and its output. */
export async function startInVain(
  data: string,
  env: Record<string, string> = {},
): Promise<Ended & { output: string }> {
  const { ended, output } = launch(data, env);
  return { ...(await ended), output: output() };
}

/** One request below /api/v4, `METHOD /path`, with a token and a JSON body. */
export function callAs(url: string, token: string, request: string, body?: unknown): Promise<Response> {
  const [method = 'GET', path = '/'] = request.split(' ');
  return fetch(`${url}/api/v4${path}`, {
    method,
    headers: { 'private-token': token, ...(body !== undefined && { 'content-type': 'application/json' }) },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
}

/**
 * Process ids of the database of a data folder: all of them work in the cluster's folder, whoever started them, and those that
 * make it in the one of its draft.
 */
export function databaseProcesses(data: string): number[] {
  const cluster = join(data, 'postgres');
  const folders = [cluster, draftOf(cluster)];
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .filter((name) => {
      try {
        return folders.includes(readlinkSync(`/proc/${name}/cwd`));
      } catch {
        return false;
      }
    })
    .map(Number);
}

/** The process that the others descend from. */
export const postmaster = (data: string): number =>
  Number(readFileSync(join(data, 'postgres', 'postmaster.pid'), 'utf8').split('\n')[0]);

/** kill -9; ignores a process that is gone already. */
export function killNow(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
}

/** Ends all running programs that were started here, and removes the folders. For afterAll(). */
export async function cleanUp(beforeRemoval = (): unknown => undefined): Promise<void> {
  for (const child of children.splice(0)) {
    if (child.exitCode !== null || child.signalCode !== null) continue;
    child.kill('SIGKILL');
    await once(child, 'exit');
  }
  for (const folder of folders) for (const pid of databaseProcesses(join(folder, 'data'))) killNow(pid);
  beforeRemoval();
  for (const folder of folders.splice(0)) {
    rmSync(folder, { recursive: true, force: true, maxRetries: 5, retryDelay: 100 });
  }
}
