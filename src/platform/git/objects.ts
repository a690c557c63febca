/**
 * Reads objects without a process for each request: one long-lived `git cat-file` per repository in use, with
 * pipelined requests, and a cache of commits and trees, which never change.
 */
import { monotonic } from '../clock.ts';
import { Failure } from '../failure.ts';
import { createShare, currentCaller } from '../fair-share.ts';
import { isObjectId } from './names.ts';
import { MAX_PARSED_BYTES } from './parse.ts';
import { git, isNoRepository, isTooMuch, NoRepository, spawnGit, tooLarge } from './program/program.ts';
import type { Program } from './program/spawner.ts';

export type ObjectType = 'commit' | 'tree' | 'blob' | 'tag';
export type ObjectInfo = { oid: string; type: ObjectType; size: number };
export type GitObject = ObjectInfo & { content: Buffer };

/** A repository on this machine's disk, for reading. */
export type GitFolder = {
  readonly folder: string;
  /** A folder of refs that name nothing for who reads, beside those that are hidden from everybody. */
  readonly hiddenRefs?: string;
  /**
   * The object of an id, of an id's beginning, or of a full ref; undefined when there is none, or several. A
   * caller that has its info passes that.
   */
  read(name: string, known?: ObjectInfo): Promise<GitObject | undefined>;
  info(name: string): Promise<ObjectInfo | undefined>;
};

export type ObjectReader = {
  open(folder: string): GitFolder;
  /** Ends the process that reads the folder, which is being removed or was replaced. */
  forget(folder: string): void;
  stop(): void;
};

const MAX_PROCESSES = 24;
/** Callers with open requests share a process: each of them holds one slot for it, however many requests. */
const busyReaders = createShare({
  of: 'repositories being read',
  places: MAX_PROCESSES,
  perCaller: MAX_PROCESSES / 3,
  waitingPerCaller: 1_000,
  waiting: 5_000,
  timeoutMs: 5_000,
});
/** An object may be a delta on a delta on a delta, each large: a later response counts as failed. */
const RESPONSE_TIMEOUT_MS = 5_000;
const LOOK_INTERVAL_MS = 1_000;
const IDLE_MS = 20_000;
/** Larger objects are streamed, not read whole. */
export const MAX_OBJECT_BYTES = 64 * 1_048_576;
const LARGEST: Record<ObjectType, number> = { ...MAX_PARSED_BYTES, blob: MAX_OBJECT_BYTES };
/** Larger files get their own process: other requests would wait for them. */
const MAX_REQUESTED_BYTES = 1_048_576;
const CACHE_BYTES = 32 * 1_048_576;
const MAX_CACHED_BYTES = 128 * 1_024;

type ObjectRequest = {
  name: string;
  contents: boolean;
  resolve(response: GitObject | ObjectInfo | undefined): void;
  reject(error: unknown): void;
};

/** Writes in the order of requests, before the program runs and after. */
const send = ({ starting }: Process, write: (stdin: Program['stdin']) => void): void => {
  // If it does not start, each request is rejected.
  starting.then(({ stdin }) => write(stdin)).catch(() => {});
};

type Process = {
  starting: Promise<Program>;
  waiting: ObjectRequest[];
  usedAt: number;
  /** Since when the first request is pending, in monotonic milliseconds. */
  answeringSince: number;
};

/** Creates the reader; processes start at the first request and end when idle. */
export function createObjectReader(): ObjectReader {
  const processes = new Map<string, Process>();
  let stopped = false;
  /** Including processes that get no more requests. */
  const running = new Set<Process>();
  const cache = new Map<string, GitObject>();
  let cached = 0;

  function remember(key: string, object: GitObject): void {
    if (object.type === 'blob' || object.size > MAX_CACHED_BYTES || cache.has(key)) return;
    cache.set(key, object);
    cached += object.size + 300;
    for (const [oldest, { size }] of cache) {
      if (cached <= CACHE_BYTES) break;
      cache.delete(oldest);
      cached -= size + 300;
    }
  }

  function start(folder: string): Process {
    const starting = spawnGit(['cat-file', '--batch-command'], { folder, kind: 'reader' });
    const at = monotonic();
    const process: Process = { starting, waiting: [], usedAt: at, answeringSince: at };
    processes.set(folder, process);
    running.add(process);
    makeRoom();
    const lose = (reason: unknown) => {
      running.delete(process);
      if (processes.get(folder) === process) processes.delete(folder);
      const waiting = process.waiting.splice(0);
      // The first request ended it; the others go to the next process.
      if (reason instanceof Failure) waiting.shift()?.reject(reason);
      for (const request of waiting) {
        if (stopped) request.reject(stopping());
        else if (reason instanceof Failure) put(folder, request);
        else request.reject(reason);
      }
    };
    starting
      .then(({ stdout, ended }) => {
        stdout.on('data', reader(process));
        return ended;
      })
      .then(({ complaint }) => lose(endOf(complaint)), lose);

    function endOf(complaint: string): Error {
      if (isNoRepository(complaint)) return new NoRepository(folder);
      return isTooMuch(complaint) || isLate(process)
        ? tooLarge()
        : new Error(`git cat-file ended: ${complaint}`);
    }
    return process;
  }

  /** Ends the least recently used process; one with open requests stays. */
  function makeRoom(): void {
    if (processes.size <= MAX_PROCESSES) return;
    const [oldest] = [...processes]
      .filter(([, { waiting }]) => waiting.length === 0)
      .sort(([, left], [, right]) => left.usedAt - right.usedAt);
    if (oldest) end(oldest[0]);
  }

  function end(folder: string): void {
    const process = processes.get(folder);
    if (!process) return;
    processes.delete(folder);
    // Pending requests are answered; then git sees the end of its input.
    send(process, (stdin) => stdin.end());
  }

  /** Open requests of each caller in a folder, and the slot that they share. */
  const asking = new Map<string, { open: number; place: Promise<() => void> }>();

  async function ask(
    folder: string,
    name: string,
    contents: boolean,
  ): Promise<GitObject | ObjectInfo | undefined> {
    const key = `${currentCaller()} ${folder}`;
    const mine = asking.get(key) ?? { open: 0, place: busyReaders.take() };
    asking.set(key, mine);
    mine.open += 1;
    try {
      await mine.place;
      if (stopped) throw stopping();
      const { promise, resolve, reject } = Promise.withResolvers<GitObject | ObjectInfo | undefined>();
      put(folder, { name, contents, resolve, reject });
      return await promise;
    } finally {
      mine.open -= 1;
      if (mine.open === 0) {
        asking.delete(key);
        mine.place.then(
          (give) => give(),
          () => {},
        );
      }
    }
  }

  function put(folder: string, request: ObjectRequest): void {
    const process = processes.get(folder) ?? start(folder);
    process.usedAt = monotonic();
    if (process.waiting.length === 0) process.answeringSince = process.usedAt;
    process.waiting.push(request);
    const { name, contents } = request;
    send(process, (stdin) => stdin.write(`${contents ? 'contents' : 'info'} ${name}\n`));
  }

  const isLate = ({ waiting, answeringSince }: Process): boolean =>
    waiting.length > 0 && monotonic() - answeringSince > RESPONSE_TIMEOUT_MS;

  let looked = monotonic();
  const timer = setInterval(() => {
    const at = monotonic();
    const stoodStill = at - looked > 2 * LOOK_INTERVAL_MS;
    looked = at;
    for (const [folder, { usedAt, waiting }] of processes)
      if (usedAt < at - IDLE_MS && waiting.length === 0) end(folder);
    // If this process itself was late, there may be responses that it has not read yet.
    if (stoodStill) return;
    for (const process of running)
      if (isLate(process)) process.starting.then(({ signal }) => signal('SIGKILL')).catch(() => {});
  }, LOOK_INTERVAL_MS);
  timer.unref();

  return {
    open(folder) {
      const info = async (name: string) => {
        refuseStrange(name);
        return ask(folder, name, false);
      };
      return {
        folder,
        info,
        async read(name, known) {
          const held = (oid: string) => cache.get(`${folder} ${oid}`);
          const named = isObjectId(name) ? held(name) : undefined;
          if (named) return named;
          const found = known ?? (await info(name));
          if (!found) return undefined;
          const same = held(found.oid);
          if (same) return same;
          if (found.size > LARGEST[found.type])
            throw new Failure('unprocessable', `The ${found.type} is too large to be shown.`);
          if (found.type === 'blob' && found.size > MAX_REQUESTED_BYTES) return readAlone(folder, found);
          const object = (await ask(folder, found.oid, true)) as GitObject | undefined;
          if (object) remember(`${folder} ${object.oid}`, object);
          return object;
        },
      };
    },
    forget(folder) {
      end(folder);
      for (const [key, { size }] of cache) {
        if (!key.startsWith(`${folder} `)) continue;
        cache.delete(key);
        cached -= size + 300;
      }
    },
    stop() {
      stopped = true;
      clearInterval(timer);
      for (const folder of [...processes.keys()]) end(folder);
    },
  };
}

/** A request that outlives its client must not start a process that nothing would end. */
const stopping = (): Failure => new Failure('unavailable', '503 Service Unavailable: stopping');

async function readAlone(folder: string, info: ObjectInfo): Promise<GitObject> {
  const content = await git(['cat-file', 'blob', info.oid], {
    folder,
    kind: 'long',
    maximumOutput: info.size,
  });
  return { ...info, content };
}

/** A line break would be a second request; callers pass ids and checked refs. */
function refuseStrange(name: string): void {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is refused.
  if (name === '' || /[\x00-\x20\x7f]/.test(name)) throw new Error('not the name of an object');
}

/** Parses responses: `<oid> <type> <size>`, the bytes where requested, and `<name> missing`. */
function reader(process: Process): (chunk: Buffer) => void {
  let held: Buffer[] = [];
  let length = 0;
  let wanted = 0;
  let header: ObjectInfo | undefined;
  const response = (object: GitObject | ObjectInfo | undefined): void => {
    process.answeringSince = monotonic();
    process.waiting.shift()?.resolve(object);
  };
  return (chunk) => {
    held.push(chunk);
    length += chunk.length;
    if (length < wanted) return;
    let buffer = held.length === 1 ? chunk : Buffer.concat(held);
    for (;;) {
      if (header) {
        if (buffer.length < header.size + 1) {
          wanted = header.size + 1;
          break;
        }
        const content = Buffer.from(buffer.subarray(0, header.size));
        response({ ...header, content });
        buffer = buffer.subarray(header.size + 1);
        header = undefined;
        continue;
      }
      const lineEnd = buffer.indexOf(10);
      wanted = 0;
      if (lineEnd < 0) break;
      const parsed = parseHeader(buffer.toString('latin1', 0, lineEnd));
      buffer = buffer.subarray(lineEnd + 1);
      if (parsed && process.waiting[0]?.contents) header = parsed;
      else response(parsed);
    }
    held = buffer.length === 0 ? [] : [buffer];
    length = buffer.length;
  };
}

const header = /^([0-9a-f]{40,64}) (commit|tree|blob|tag) (\d+)$/;

function parseHeader(line: string): ObjectInfo | undefined {
  const [, oid, type, size] = header.exec(line) ?? [];
  if (oid === undefined) return undefined;
  // The pattern admits only these four types.
  return { oid, type: type as ObjectType, size: Number(size) };
}
