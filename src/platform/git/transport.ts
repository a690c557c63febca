/**
 * Runs what talks to a git client: `upload-pack` and `receive-pack`, each in a process group of its own. So many at once,
 * so many waiting; none outlives this process or the client that it works for.
 */
import { availableParallelism } from 'node:os';
import type { Readable, Writable } from 'node:stream';
import { Failure } from '../failure.ts';
import { gitEnvironment } from './program.ts';
import { type Ending, launch, launchUnbounded } from './spawner.ts';

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
  /** When it and its streams have ended; never rejected. */
  ended: Promise<Ending>;
  /** Ends it and what it started: they clean up behind themselves, or are killed at last. */
  end(): void;
};

/** Packs are made in memory; a push that is taken waits for the disk more than for anything. */
const mostRunning: Record<Service, number> = {
  'upload-pack': availableParallelism() * 4,
  'receive-pack': availableParallelism() * 8,
};
const MOST_WAITING = 200;
const PATIENCE_MILLISECONDS = 30_000;
/** Until what does not end by itself is asked to, and until what does not do as it is asked is killed. */
const GRACE_MILLISECONDS = 2_500;

const running: Record<Service, number> = { 'upload-pack': 0, 'receive-pack': 0 };
const waiting: Record<Service, Set<() => void>> = { 'upload-pack': new Set(), 'receive-pack': new Set() };

const busy = (): Failure =>
  new Failure('unavailable', 'The server is busy with other clones and pushes. Please try again later.', {
    headers: { 'retry-after': '10' },
  });

/** Waits for a place; 503 when there are too many before it, or when it takes too long. */
async function takePlace({ service, signal }: ServiceOptions): Promise<void> {
  signal.throwIfAborted();
  if (running[service] < mostRunning[service]) {
    running[service] += 1;
    return;
  }
  const queue = waiting[service];
  if (queue.size >= MOST_WAITING) throw busy();
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  const timer = setTimeout(() => reject(busy()), PATIENCE_MILLISECONDS);
  const gone = () => reject(signal.reason);
  signal.addEventListener('abort', gone, { once: true });
  queue.add(resolve);
  try {
    // Whoever gives a place hands it on: it stays counted.
    await promise;
  } finally {
    clearTimeout(timer);
    signal.removeEventListener('abort', gone);
    queue.delete(resolve);
  }
}

function givePlace(service: Service): void {
  const [next] = waiting[service];
  if (next) {
    waiting[service].delete(next);
    next();
  } else running[service] -= 1;
}

/** Starts the service when there is a place for it; 503 when there is none for too long. */
export async function startService(options: ServiceOptions): Promise<Running> {
  await takePlace(options);
  try {
    return await start(options);
  } catch (error) {
    givePlace(options.service);
    throw error;
  }
}

/** What a client sends may say of itself that it is huge; what it asks for may be. */
const launches = { 'receive-pack': launch, 'upload-pack': launchUnbounded } as const;

async function start(options: ServiceOptions): Promise<Running> {
  const { folder, service, flags = [], configuration = {}, protocol } = options;
  const args = [
    ...Object.entries(configuration).flatMap(([key, value]) => ['-c', `${key}=${value}`]),
    service,
    '--stateless-rpc',
    ...flags,
    folder,
  ];
  const { stdin, stdout, ended, signal } = await launches[service]('git', args, {
    ...gitEnvironment,
    ...(protocol && { GIT_PROTOCOL: protocol }),
    ...options.environment,
  });
  void ended.then(() => {
    options.signal.removeEventListener('abort', end);
    givePlace(service);
  });

  function end(): void {
    // A receiver that misses the rest removes what it has, in good order; a signal would have it leave some of it behind.
    stdin.destroy();
    // Whoever reads a pack shall not take a part for the whole. A receiver has its say: the pipe broken under it, it would
    // end before it has cleaned up.
    if (service === 'upload-pack') stdout.destroy(new Error(`git ${service} was ended`));
    const patience = service === 'receive-pack' ? GRACE_MILLISECONDS : 0;
    const timers = [
      setTimeout(() => signal('SIGTERM'), patience),
      setTimeout(() => signal('SIGKILL'), patience + GRACE_MILLISECONDS),
    ];
    void ended.then(() => timers.forEach(clearTimeout));
  }
  if (options.signal.aborted) end();
  else options.signal.addEventListener('abort', end, { once: true });
  return { stdin, stdout, ended, end };
}
