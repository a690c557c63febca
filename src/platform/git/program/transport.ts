/**
 * Runs the services for git clients, `upload-pack` and `receive-pack`, each in its own process group. Bounded
 * in number and in waiting; none outlives this process or its client.
 */
import { availableParallelism } from 'node:os';
import type { Readable, Writable } from 'node:stream';
import { createShare, type Share } from '../../fair-share.ts';
import { gitEnvironment } from './program.ts';
import { type Bounds, type Ending, launch } from './spawner.ts';

export type Service = 'upload-pack' | 'receive-pack';

export type ServiceOptions = {
  folder: string;
  service: Service;
  /** Options of the service itself, before the folder. */
  flags?: readonly string[];
  /** Configuration for this run; it overrides all other. */
  configuration?: Readonly<Record<string, string>>;
  /** From the client's header: `version=2`. */
  protocol?: string | undefined;
  environment?: Readonly<Record<string, string>>;
  /** Aborts the wait for a slot, and the run. */
  signal: AbortSignal;
};

export type Running = {
  stdin: Writable;
  stdout: Readable;
  /** Resolved when it and its streams have ended; never rejected. */
  ended: Promise<Ending>;
  /** Ends it and its children: they clean up, or are killed in the end. */
  end(): void;
};

/** Milliseconds to the request to end, and from that to the kill. */
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

/** A clone keeps its slot while the client reads: slow ones must not take them all (http/server/stream-rate.ts). */
const shares: Record<Service, Share> = {
  'upload-pack': shareOf('clones', 8),
  'receive-pack': shareOf('pushes', 8),
};

/**
 * The API has priority. Sizes in pushed data are bounded, as a client may claim any; a requested pack may be
 * huge.
 */
const NICENESS = 5;
const bounds: Record<Service, Bounds> = {
  'upload-pack': { heap: 'unlimited', niceness: NICENESS },
  'receive-pack': { niceness: NICENESS },
};

/** Starts the service when a slot is free; 429 or 503 when none is in time. */
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
    // On a truncated input receive-pack removes its objects; a signal would make it leave some.
    stdin.destroy();
    // A reader must not take a part of a pack for the whole. receive-pack keeps its output: on a broken pipe
    // it would end before its cleanup.
    if (service === 'upload-pack') stdout.destroy(new Error(`git ${service} was ended`));
    const grace = service === 'receive-pack' ? GRACE_MS : 0;
    const timers = [
      setTimeout(() => signal('SIGTERM'), grace),
      setTimeout(() => signal('SIGKILL'), grace + GRACE_MS),
    ];
    void ended.then(() => timers.forEach(clearTimeout));
  }
  if (options.signal.aborted) end();
  else options.signal.addEventListener('abort', end, { once: true });
  return { stdin, stdout, ended, end };
}
