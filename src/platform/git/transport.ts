/**
 * Runs what talks to a git client: `upload-pack` and `receive-pack`, each in a process group of its own. So many at once,
 * so many waiting; none outlives this process or the client that it works for.
 */
import { availableParallelism } from 'node:os';
import type { Readable, Writable } from 'node:stream';
import { createShare, type Share } from '../fair-share.ts';
import { gitEnvironment } from './program.ts';
import { type Bounds, type Ending, launch } from './spawner.ts';

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

/** Until what does not end by itself is asked to, and until what does not do as it is asked is killed. */
const GRACE_MS = 2_500;

const shareOf = (of: string, perProcessor: number): Share =>
  createShare({
    of,
    places: availableParallelism() * perProcessor,
    perCaller: (availableParallelism() * perProcessor) / 2,
    waitingPerCaller: 50,
    waiting: 200,
    timeoutMs: 5_000,
  });

/** A clone keeps its place for as long as the client takes to read: slow ones must not have them all (http/stream-rate.ts). */
const shares: Record<Service, Share> = {
  'upload-pack': shareOf('clones', 8),
  'receive-pack': shareOf('pushes', 8),
};

/**
 * They stand back for what answers the API. What a client sends may say of itself that it is huge, and is bounded; what it
 * asks for may be huge.
 */
const NICENESS = 5;
const bounds: Record<Service, Bounds> = {
  'upload-pack': { heap: 'unlimited', niceness: NICENESS },
  'receive-pack': { niceness: NICENESS },
};

/** Starts the service when there is a place for it; 429 or 503 when there is none in time. */
export async function startService(options: ServiceOptions): Promise<Running> {
  const give = await shares[options.service].take(options.signal);
  try {
    return await start(options, give);
  } catch (error) {
    give();
    throw error;
  }
}

async function start(options: ServiceOptions, give: () => void): Promise<Running> {
  const { folder, service, flags = [], configuration = {}, protocol } = options;
  const args = [
    ...Object.entries(configuration).flatMap(([key, value]) => ['-c', `${key}=${value}`]),
    service,
    '--stateless-rpc',
    ...flags,
    folder,
  ];
  const env = { ...gitEnvironment, ...(protocol && { GIT_PROTOCOL: protocol }), ...options.environment };
  const { stdin, stdout, ended, signal } = await launch('git', args, env, bounds[service]);
  void ended.then(() => {
    options.signal.removeEventListener('abort', end);
    give();
  });

  function end(): void {
    // A receiver that misses the rest removes what it has, in good order; a signal would have it leave some of it behind.
    stdin.destroy();
    // Whoever reads a pack shall not take a part for the whole. A receiver has its say: the pipe broken under it, it would
    // end before it has cleaned up.
    if (service === 'upload-pack') stdout.destroy(new Error(`git ${service} was ended`));
    const patience = service === 'receive-pack' ? GRACE_MS : 0;
    const timers = [
      setTimeout(() => signal('SIGTERM'), patience),
      setTimeout(() => signal('SIGKILL'), patience + GRACE_MS),
    ];
    void ended.then(() => timers.forEach(clearTimeout));
  }
  if (options.signal.aborted) end();
  else options.signal.addEventListener('abort', end, { once: true });
  return { stdin, stdout, ended, end };
}
