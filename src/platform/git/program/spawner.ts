/**
 * Starts programs by a small process: a fork copies the page tables, which blocks a large process for several
 * milliseconds. The program's input and output go by sockets directly to this process.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtempSync } from 'node:fs';
import { createServer, type Server, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { extname, join } from 'node:path';
import type { Readable, Writable } from 'node:stream';
import { fileURLToPath } from 'node:url';

export type Order = {
  id: number;
  program: string;
  args: readonly string[];
  env: Record<string, string>;
  niceness: number;
};
/** The program runs, has ended, or could not be started. */
export type Report =
  | { id: number; pid: number }
  | { id: number; code: number | null; killedBy: NodeJS.Signals | null; complaint: string }
  | { id: number; failed: string };

export type Ending = {
  /** Null when a signal ended it. */
  code: number | null;
  /** The signal that ended it: SIGXCPU where it has used up its seconds. */
  killedBy: NodeJS.Signals | null;
  /** Its standard error, the first 64 KiB. */
  complaint: string;
};

export type Program = {
  stdin: Writable;
  stdout: Readable;
  /** Resolved when it and its output have ended; never rejected. */
  ended: Promise<Ending>;
  /** Signals it and its children, unless it has ended. */
  signal(name: NodeJS.Signals): void;
};

type Run = {
  input?: Socket;
  output?: Socket;
  isStarted?: boolean;
  /** While it runs. */
  pid?: number | undefined;
  started: PromiseWithResolvers<Program>;
  ending: PromiseWithResolvers<Ending>;
};

const runs = new Map<number, Run>();
let last = 0;
let spawner: Promise<Spawner> | undefined;
let resting: NodeJS.Timeout | undefined;

type Spawner = { child: ChildProcess; retire(): void };

/** Milliseconds for which the spawner stays without programs: it has 25 MB, and starts in the time of a small request. */
const IDLE_MS = 20_000;

/** Limits of a program. */
export type Bounds = {
  /** KiB of heap; mapped files do not count. Absent, its whole address space is bounded. */
  heap?: number | 'unlimited';
  /** Seconds of a processor's time, for it and for each process that it starts. What it waits for does not count. */
  seconds?: number;
  /** Niceness: 0, the default, to 19. */
  niceness?: number;
};

/** Sets the limits in a shell, which becomes the program. A system without such a limit runs it without. */
function limited(
  program: string,
  args: readonly string[],
  { heap, seconds }: Bounds,
): [string, readonly string[]] {
  const limits = [
    heap !== undefined && (heap === 'unlimited' ? '-v unlimited' : `-d ${heap}`),
    seconds !== undefined && `-t ${seconds}`,
    // Whoever has used up its seconds would leave its memory in a file.
    seconds !== undefined && '-c 0',
  ].filter((limit) => limit !== false);
  if (limits.length === 0) return [program, args];
  const script = limits.map((limit) => `ulimit -S ${limit} 2>/dev/null; `).join('');
  return ['sh', ['-c', `${script}exec "$0" "$@"`, program, ...args]];
}

/** Starts a program in a process group of its own, with this environment alone, within its bounds. */
export async function launch(
  program: string,
  args: readonly string[],
  env: Record<string, string>,
  bounds: Bounds = {},
): Promise<Program> {
  clearTimeout(resting);
  spawner ??= startSpawner().catch((error) => {
    spawner = undefined;
    throw error;
  });
  const { child } = await spawner;
  last += 1;
  const id = last;
  const run: Run = { started: Promise.withResolvers(), ending: Promise.withResolvers() };
  runs.set(id, run);
  // Pending starts and ends need its messages.
  child.channel?.ref();
  const [command, rest] = limited(program, args, bounds);
  const order: Order = { id, program: command, args: rest, env, niceness: bounds.niceness ?? 0 };
  child.send(order, (error) => {
    if (error) fail(id, error);
  });
  return run.started.promise;
}

/** KiB that a program may map and allocate, whatever size a file claims. */
const ADDRESS_SPACE = 2_097_152;

/** The shell bounds the memory, if the system can, and becomes the spawner, whose children inherit this. */
const bounded: readonly string[] = ['-c', 'ulimit -S -v "$0" 2>/dev/null; exec "$@"', String(ADDRESS_SPACE)];

/** Backlog of sockets while this process is busy. */
const SOCKET_BACKLOG = 4_096;

/** A private folder; socket names must be short. */
function makeAddress(): string {
  const longest = 60;
  const parent = [tmpdir(), '/tmp'].find((folder) => Buffer.byteLength(folder) <= longest) ?? '/tmp';
  return join(mkdtempSync(join(parent, 'ashlar-git-')), 'programs');
}

async function startSpawner(): Promise<Spawner> {
  const address = makeAddress();
  const server = createServer({ allowHalfOpen: true }, greet);
  // Later errors belong to single sockets: the spawner reports them for their programs.
  await new Promise<void>((resolve, reject) =>
    server.on('error', reject).listen(address, SOCKET_BACKLOG, resolve),
  );
  server.unref();
  const file = fileURLToPath(new URL(`./spawner-process${extname(import.meta.url)}`, import.meta.url));
  const child = spawn('/bin/sh', [...bounded, process.execPath, file, address], {
    // A signal to the terminal's group would end it before its users.
    detached: true,
    env: {},
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
  });
  child.unref();
  child.channel?.unref();
  child.on('message', onReport);
  const failed = (error: unknown) => lose(server, error);
  const ended = () => lose(server, undefined);
  child.once('error', failed).once('exit', ended);
  return {
    child,
    retire() {
      // What others start meanwhile is not its business.
      child.off('exit', ended);
      server.close();
      child.disconnect();
    },
  };
}

/** Ends the spawner, if nobody uses it: after a while, or where no program is started any more. */
export function retire(): void {
  if (runs.size > 0) return;
  const idle = spawner;
  spawner = undefined;
  void idle?.then((own) => own.retire());
}

/** Without the spawner no end is reported: programs are killed, and the next gets a new spawner. */
function lose(server: Server, cause: unknown): void {
  spawner = undefined;
  server.close();
  killAll();
  for (const id of runs.keys()) fail(id, new Error('The process that starts programs has ended.', { cause }));
}

function killAll(): void {
  for (const run of runs.values()) signalGroup(run, 'SIGKILL');
}
process.once('exit', killAll);

function signalGroup({ pid }: Run, name: NodeJS.Signals): void {
  if (pid === undefined) return;
  try {
    process.kill(-pid, name);
  } catch {
    // It has ended, and its report follows.
  }
}

function onReport(report: Report): void {
  const run = runs.get(report.id);
  if (!run) return;
  if ('failed' in report) fail(report.id, new Error(report.failed));
  else if ('pid' in report) {
    run.pid = report.pid;
    run.isStarted = true;
    begin(report.id, run);
  } else {
    run.pid = undefined;
    const { code, killedBy, complaint } = report;
    run.ending.resolve({ code, killedBy, complaint });
  }
}

function fail(id: number, error: Error): void {
  const run = runs.get(id);
  forget(id);
  run?.started.reject(error);
  run?.ending.resolve({ code: null, killedBy: null, complaint: error.message });
  run?.input?.destroy();
  run?.output?.destroy();
}

/** Without programs the spawner does not keep this process alive. */
function forget(id: number): void {
  runs.delete(id);
  if (runs.size > 0) return;
  void spawner?.then(({ child }) => runs.size === 0 && child.channel?.unref());
  clearTimeout(resting);
  resting = setTimeout(retire, IDLE_MS).unref();
}

/** Resolves the start when the program runs and both sockets are here. */
function begin(id: number, run: Run): void {
  const { input, output, isStarted } = run;
  if (!input || !output || !isStarted) return;
  // Reading on detects its end.
  input.resume();
  output.end();
  const closed = new Promise<void>((resolve) => {
    if (output.closed) resolve();
    else output.once('close', resolve);
  });
  const exited = run.ending.promise.finally(() => {
    forget(id);
    input.destroy();
  });
  const ended = Promise.all([exited, closed]).then(([ending]) => ending);
  run.started.resolve({ stdin: input, stdout: output, ended, signal: (name) => signalGroup(run, name) });
}

/** A socket of the spawner: its first line names the program and the stream. */
function greet(socket: Socket): void {
  // The program may end without reading all input: its exit code says why.
  socket.on('error', () => {});
  const read = () => {
    const chunk: Buffer | null = socket.read();
    if (chunk === null) return;
    socket.off('readable', read);
    // The line came in one piece.
    const end = chunk.indexOf(10);
    const [, stream, id = ''] = /^(input|output) (\d+)$/.exec(chunk.toString('latin1', 0, end)) ?? [];
    const run = runs.get(Number(id));
    if (!run) return socket.destroy();
    if (end + 1 < chunk.length) socket.unshift(chunk.subarray(end + 1));
    run[stream === 'input' ? 'input' : 'output'] = socket;
    return begin(Number(id), run);
  };
  socket.on('readable', read);
}
