/**
 * Runs what talks to a git client: `upload-pack` and `receive-pack`, each in a process group of its own. So many at once,
 * so many waiting; none outlives this process or the client that it works for.
 */
import { type ChildProcessByStdio, spawn } from 'node:child_process';
import { availableParallelism } from 'node:os';
import type { Readable, Writable } from 'node:stream';
import { Failure } from '../failure.ts';
import { boundedGit, gitEnvironment } from './program.ts';

export type Service = 'upload-pack' | 'receive-pack';

export type ServiceOptions = {
  folder: string;
  service: Service;
  /** Options of the service itself, before the folder. */
  flags?: readonly string[];
  /** Configuration for this run alone; it stands above all other. */
  configuration?: Readonly<Record<string, string>>;
  /** As the client's header says: `version=2`. */
  protocol?: string | undefined;
  environment?: Readonly<Record<string, string>>;
  /** While it waits for its place, and as long as it runs. */
  signal: AbortSignal;
};

export type Running = {
  stdin: Writable;
  stdout: Readable;
  /** What it said on its standard error, as far as it is kept. */
  complaint(): string;
  /** Its code, when it and its streams have ended; null when a signal ended it. */
  ended: Promise<number | null>;
  /** Ends it and what it started: they clean up behind themselves, or are killed at last. */
  end(): void;
};

const MOST_RUNNING = availableParallelism() * 4;
const MOST_WAITING = 200;
const PATIENCE_MILLISECONDS = 30_000;
/** Until what does not end by itself is asked to, and until what does not do as it is asked is killed. */
const GRACE_MILLISECONDS = 2_500;
const MOST_COMPLAINT = 16_384;

let running = 0;
const waiting = new Set<() => void>();
const groups = new Set<number>();

const busy = (): Failure =>
  new Failure('unavailable', 'The server is busy with other clones and pushes. Please try again later.', {
    headers: { 'retry-after': '10' },
  });

/** Waits for a place; 503 when there are too many before it, or when it takes too long. */
async function takePlace(signal: AbortSignal): Promise<void> {
  signal.throwIfAborted();
  if (running < MOST_RUNNING) {
    running += 1;
    return;
  }
  if (waiting.size >= MOST_WAITING) throw busy();
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  const timer = setTimeout(() => reject(busy()), PATIENCE_MILLISECONDS);
  const gone = () => reject(signal.reason);
  signal.addEventListener('abort', gone, { once: true });
  waiting.add(resolve);
  try {
    // Whoever gives a place hands it on: it stays counted.
    await promise;
  } finally {
    clearTimeout(timer);
    signal.removeEventListener('abort', gone);
    waiting.delete(resolve);
  }
}

function givePlace(): void {
  const [next] = waiting;
  if (next) {
    waiting.delete(next);
    next();
  } else running -= 1;
}

function signalGroup(group: number, name: NodeJS.Signals): void {
  try {
    process.kill(-group, name);
  } catch {
    // It has ended already.
  }
}

process.once('exit', () => {
  for (const group of groups) signalGroup(group, 'SIGKILL');
});

/** Starts the service when there is a place for it; 503 when there is none for too long. */
export async function startService(options: ServiceOptions): Promise<Running> {
  await takePlace(options.signal);
  try {
    return start(options);
  } catch (error) {
    givePlace();
    throw error;
  }
}

/** Without flags it is the service itself, not the list of its refs. */
const takesPack = ({ service, flags }: ServiceOptions): boolean =>
  service === 'receive-pack' && flags === undefined;

type Child = ChildProcessByStdio<Writable, Readable, Readable>;

function start(options: ServiceOptions): Running {
  const { folder, service, flags = [], configuration = {}, protocol } = options;
  const args = [
    ...Object.entries(configuration).flatMap(([key, value]) => ['-c', `${key}=${value}`]),
    service,
    '--stateless-rpc',
    ...flags,
    folder,
  ];
  // What a client sends may say of itself that it is huge.
  const [program, before] = takesPack(options) ? (['sh', boundedGit] as const) : (['git', []] as const);
  const child: Child = spawn(program, [...before, ...args], {
    env: { ...gitEnvironment, ...(protocol && { GIT_PROTOCOL: protocol }), ...options.environment },
    stdio: ['pipe', 'pipe', 'pipe'],
    detached: true,
  });
  const { pid } = child;
  if (pid !== undefined) groups.add(pid);
  let complaint = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    if (complaint.length < MOST_COMPLAINT) complaint += text;
  });
  // It may end without reading to the end: its code says what happened.
  child.stdin.on('error', () => {});
  let over = false;
  const { promise: ended, resolve } = Promise.withResolvers<number | null>();
  const finish = (code: number | null): void => {
    if (over) return;
    over = true;
    options.signal.removeEventListener('abort', end);
    if (pid !== undefined) groups.delete(pid);
    givePlace();
    resolve(code);
  };
  child.on('error', () => finish(null));
  child.on('close', finish);

  function end(): void {
    if (over || pid === undefined) return;
    // A receiver that misses the rest removes what it has, in good order; a signal would have it leave some of it behind.
    child.stdin.destroy();
    // Whoever reads a pack shall not take a part for the whole. A receiver has its say: the pipe broken under it, it would
    // end before it has cleaned up.
    if (service === 'upload-pack') child.stdout.destroy(new Error(`git ${service} was ended`));
    const patience = service === 'receive-pack' ? GRACE_MILLISECONDS : 0;
    const timers = [
      setTimeout(() => signalGroup(pid, 'SIGTERM'), patience),
      setTimeout(() => signalGroup(pid, 'SIGKILL'), patience + GRACE_MILLISECONDS),
    ];
    void ended.then(() => timers.forEach(clearTimeout));
  }
  if (options.signal.aborted) end();
  else options.signal.addEventListener('abort', end, { once: true });
  return { stdin: child.stdin, stdout: child.stdout, complaint: () => complaint, ended, end };
}
