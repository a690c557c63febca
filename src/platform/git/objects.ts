/**
 * Reads objects without a process for each request: one long-lived `git cat-file` per repository in use, asked in a
 * pipeline, and a cache of commits and trees, which never change.
 */
import { monotonic } from '../clock.ts';
import { Failure } from '../failure.ts';
import { isObjectId } from './names.ts';
import { isNoRepository, NoRepository, spawnGit } from './program.ts';
import type { Program } from './spawner.ts';

export type ObjectType = 'commit' | 'tree' | 'blob' | 'tag';
export type ObjectInfo = { oid: string; type: ObjectType; size: number };
export type GitObject = ObjectInfo & { content: Buffer };

/** One repository on this machine's disk, for reading. */
export type GitFolder = {
  readonly folder: string;
  /**
   * The object of an id, of the beginning of one, or of a full ref; undefined when there is none, or several. Whoever has
   * asked for its info already gives that.
   */
  read(name: string, known?: ObjectInfo): Promise<GitObject | undefined>;
  info(name: string): Promise<ObjectInfo | undefined>;
};

export type ObjectReader = {
  open(folder: string): GitFolder;
  /** Ends the process that reads there: the folder is going, or has come anew. */
  forget(folder: string): void;
  stop(): void;
};

const MOST_PROCESSES = 24;
const IDLE_MILLISECONDS = 20_000;
/** Larger objects are streamed, not held. */
export const LARGEST_OBJECT = 64 * 1_048_576;
/** Commits, tags and trees are taken apart at once, while everybody waits. */
const LARGEST_PARSED = 8 * 1_048_576;
const CACHE_BYTES = 32 * 1_048_576;
const LARGEST_CACHED = 128 * 1_024;

type Question = {
  contents: boolean;
  resolve(answer: GitObject | ObjectInfo | undefined): void;
  reject(error: unknown): void;
};

/** Before it runs, and after: always in the order in which it was asked. */
const send = ({ starting }: Process, write: (stdin: Program['stdin']) => void): void => {
  // Where it does not start, each question is told so.
  starting.then(({ stdin }) => write(stdin)).catch(() => {});
};

type Process = { starting: Promise<Program>; waiting: Question[]; usedAt: number };

/** Makes the reader; processes start at the first question and end when nobody asks for a while. */
export function createObjectReader(): ObjectReader {
  const processes = new Map<string, Process>();
  const cache = new Map<string, GitObject>();
  let cached = 0;

  function remember(key: string, object: GitObject): void {
    if (object.type === 'blob' || object.size > LARGEST_CACHED || cache.has(key)) return;
    cache.set(key, object);
    cached += object.size + 300;
    for (const [oldest, { size }] of cache) {
      if (cached <= CACHE_BYTES) break;
      cache.delete(oldest);
      cached -= size + 300;
    }
  }

  function start(folder: string): Process {
    const starting = spawnGit(['cat-file', '--batch-command'], { folder });
    const process: Process = { starting, waiting: [], usedAt: monotonic() };
    processes.set(folder, process);
    makeRoom();
    const lose = (reason: unknown) => {
      if (processes.get(folder) === process) processes.delete(folder);
      for (const question of process.waiting.splice(0)) question.reject(reason);
    };
    starting
      .then(({ stdout, ended }) => {
        stdout.on('data', reader(process));
        return ended;
      })
      .then(
        ({ complaint }) =>
          lose(
            isNoRepository(complaint)
              ? new NoRepository(folder)
              : new Error(`git cat-file ended: ${complaint}`),
          ),
        lose,
      );
    return process;
  }

  /** The process that nobody asked for the longest time makes room; one with questions open is left alone. */
  function makeRoom(): void {
    if (processes.size <= MOST_PROCESSES) return;
    const [oldest] = [...processes]
      .filter(([, { waiting }]) => waiting.length === 0)
      .sort(([, left], [, right]) => left.usedAt - right.usedAt);
    if (oldest) end(oldest[0]);
  }

  function end(folder: string): void {
    const process = processes.get(folder);
    if (!process) return;
    processes.delete(folder);
    // What is asked already is answered; then git sees the end of its input.
    send(process, (stdin) => stdin.end());
  }

  function ask(folder: string, name: string, contents: boolean): Promise<GitObject | ObjectInfo | undefined> {
    const process = processes.get(folder) ?? start(folder);
    process.usedAt = monotonic();
    const { promise, resolve, reject } = Promise.withResolvers<GitObject | ObjectInfo | undefined>();
    process.waiting.push({ contents, resolve, reject });
    send(process, (stdin) => stdin.write(`${contents ? 'contents' : 'info'} ${name}\n`));
    return promise;
  }

  const timer = setInterval(() => {
    const before = monotonic() - IDLE_MILLISECONDS;
    for (const [folder, { usedAt, waiting }] of processes)
      if (usedAt < before && waiting.length === 0) end(folder);
  }, IDLE_MILLISECONDS / 2);
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
          if (found.size > (found.type === 'blob' ? LARGEST_OBJECT : LARGEST_PARSED))
            throw new Failure('unprocessable', 'The object is too large.');
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
      clearInterval(timer);
      for (const folder of [...processes.keys()]) end(folder);
    },
  };
}

/** A line break would be a second question; callers ask for ids and for refs that they have looked at. */
function refuseStrange(name: string): void {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is refused.
  if (name === '' || /[\x00-\x20\x7f]/.test(name)) throw new Error('not the name of an object');
}

/** Takes the answers apart: `<oid> <type> <size>`, the bytes where they were asked for, and `<name> missing`. */
function reader(process: Process): (chunk: Buffer) => void {
  let held: Buffer[] = [];
  let length = 0;
  let wanted = 0;
  let header: ObjectInfo | undefined;
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
        process.waiting.shift()?.resolve({ ...header, content });
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
      else process.waiting.shift()?.resolve(parsed);
    }
    held = buffer.length === 0 ? [] : [buffer];
    length = buffer.length;
  };
}

const header = /^([0-9a-f]{40,64}) (commit|tree|blob|tag) (\d+)$/;

function parseHeader(line: string): ObjectInfo | undefined {
  const [, oid, type, size] = header.exec(line) ?? [];
  if (oid === undefined) return undefined;
  // The pattern admits only these four.
  return { oid, type: type as ObjectType, size: Number(size) };
}
