/**
 * Starts programs by way of a small process: to start one, a process is copied with all its tables of pages, which takes a
 * large one several milliseconds in which nobody else is served. What a program reads and writes goes by sockets between
 * it and this process, and through no other hands.
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
/** That it runs, that it has ended, or that it could not be started. */
export type Report =
  | { id: number; pid: number }
  | { id: number; code: number | null; complaint: string }
  | { id: number; failed: string };

export type Ending = {
  /** Null when a signal ended it. */
  code: number | null;
  /** What it said on its standard error; the first 64 KiB. */
  complaint: string;
};

export type Program = {
  stdin: Writable;
  stdout: Readable;
  /** When it and its output have ended; never rejected. */
  ended: Promise<Ending>;
  /** Signals it and all that it has started, unless it has ended. */
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
let spawner: Promise<ChildProcess> | undefined;

/** How a program may use the machine. */
export type Bounds = {
  /** KiB that it may allocate for itself: files that it maps do not count. Absent, its whole address space is bounded. */
  heap?: number | 'unlimited';
  /** How far it stands back for others who want the processor: 0, unless told, to 19. */
  niceness?: number;
};

/** By the shell, which becomes the program. A system that knows no such limit runs it without. */
function limited(
  program: string,
  args: readonly string[],
  heap: Bounds['heap'],
): [string, readonly string[]] {
  if (heap === undefined) return [program, args];
  const limit = heap === 'unlimited' ? 'ulimit -S -v unlimited' : `ulimit -S -d ${heap}`;
  return ['sh', ['-c', `${limit} 2>/dev/null; exec "$0" "$@"`, program, ...args]];
}

/** Starts a program, in a group of its own, with this environment and no other. What it may allocate is bounded. */
export async function launch(
  program: string,
  args: readonly string[],
  env: Record<string, string>,
  { heap, niceness = 0 }: Bounds = {},
): Promise<Program> {
  spawner ??= startSpawner().catch((error) => {
    spawner = undefined;
    throw error;
  });
  const child = await spawner;
  last += 1;
  const id = last;
  const run: Run = { started: Promise.withResolvers(), ending: Promise.withResolvers() };
  runs.set(id, run);
  // Whoever waits for a program to start or to end wants to hear of it.
  child.channel?.ref();
  const [command, rest] = limited(program, args, heap);
  const order: Order = { id, program: command, args: rest, env, niceness };
  child.send(order, (error) => {
    if (error) fail(id, error);
  });
  return run.started.promise;
}

/** In KiB: what a file may make a program map and allocate, however large it says that it is. */
const ADDRESS_SPACE = 2_097_152;

/** The shell bounds the memory, where the system can, and becomes the spawner; what that one starts is bounded too. */
const bounded: readonly string[] = ['-c', 'ulimit -S -v "$0" 2>/dev/null; exec "$@"', String(ADDRESS_SPACE)];

/** Sockets that wait while this process is busy with something else. */
const MAX_DIALLED = 4_096;

/** The folder is ours alone; a socket's name has to be short. */
function makeAddress(): string {
  const longest = 60;
  const parent = [tmpdir(), '/tmp'].find((folder) => Buffer.byteLength(folder) <= longest) ?? '/tmp';
  return join(mkdtempSync(join(parent, 'ashlar-git-')), 'programs');
}

async function startSpawner(): Promise<ChildProcess> {
  const address = makeAddress();
  const server = createServer({ allowHalfOpen: true }, greet);
  // What fails later is somebody's socket: the spawner says so of the program.
  await new Promise<void>((resolve, reject) =>
    server.on('error', reject).listen(address, MAX_DIALLED, resolve),
  );
  server.unref();
  const file = fileURLToPath(new URL(`./spawner-process${extname(import.meta.url)}`, import.meta.url));
  const child = spawn('/bin/sh', [...bounded, process.execPath, file, address], {
    // A signal to the terminal's group would end it before those who still need it.
    detached: true,
    env: {},
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
  });
  child.unref();
  child.channel?.unref();
  child.on('message', onReport);
  const gone = (error?: unknown) => lose(server, error);
  child.once('error', gone).once('exit', () => gone());
  return child;
}

/** Nobody would say how the programs end: they are ended, and the next has a new spawner. */
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
    // It has ended, and it is about to be said.
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
    const { code, complaint } = report;
    run.ending.resolve({ code, complaint });
  }
}

function fail(id: number, error: Error): void {
  const run = runs.get(id);
  forget(id);
  run?.started.reject(error);
  run?.ending.resolve({ code: null, complaint: error.message });
  run?.input?.destroy();
  run?.output?.destroy();
}

/** Without programs this process may end as if there were no spawner. */
function forget(id: number): void {
  runs.delete(id);
  if (runs.size === 0) void spawner?.then((child) => runs.size === 0 && child.channel?.unref());
}

/** Hands the program over when it runs and both sockets are here. */
function begin(id: number, run: Run): void {
  const { input, output, isStarted } = run;
  if (!input || !output || !isStarted) return;
  // Its end is seen by reading on.
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

/** A socket that the spawner has opened: its first line says of which program it is, and which of its streams. */
function greet(socket: Socket): void {
  // It may end without reading to the end: its code says what happened.
  socket.on('error', () => {});
  const read = () => {
    const chunk: Buffer | null = socket.read();
    if (chunk === null) return;
    socket.off('readable', read);
    // The line was sent in one piece.
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
