/**
 * Fetches from and pushes to repositories of other servers. git itself never reaches a network: it speaks by its standard
 * input and output (`--stateless-rpc`, as with its own programs for HTTP), and the caller carries each request.
 */
import type { Readable, Writable } from 'node:stream';
import { Readable as Stream } from 'node:stream';
import { FLUSH, pktLine } from '../program/pkt-line.ts';
import { endingError, GitError, spawnGit } from '../program/program.ts';
import { type Advertisement, BadAnswer } from './advertisement.ts';

/** Sends a request of the service, and hands over its answer piece by piece. */
export type Exchange = (
  request: Readable,
  answer: (pieces: AsyncIterable<Buffer>) => Promise<void>,
) => Promise<void>;

export type Remote = {
  advertisement: Advertisement;
  exchange: Exchange;
  /** So long git waits after an answer until it knows what to say: one that is cut off leaves it waiting for the rest. */
  silenceMs: number;
};

/** Bytes as they are asked for. */
class Input {
  readonly #source: AsyncIterator<Buffer>;
  #rest: Buffer = Buffer.alloc(0);
  constructor(source: AsyncIterable<Buffer>) {
    this.#source = source[Symbol.asyncIterator]();
  }

  async #more(): Promise<boolean> {
    const next = await this.#source.next();
    if (next.done) return false;
    this.#rest = this.#rest.length === 0 ? next.value : Buffer.concat([this.#rest, next.value]);
    return true;
  }

  /** Undefined where it ends before. */
  async take(count: number): Promise<Buffer | undefined> {
    while (this.#rest.length < count) if (!(await this.#more())) return undefined;
    const taken = this.#rest.subarray(0, count);
    this.#rest = this.#rest.subarray(count);
    return taken;
  }

  async all(): Promise<Buffer> {
    while (await this.#more());
    return this.#rest;
  }
}

/** The content of the next line; null for a flush, undefined where the program ended. */
async function nextLine(output: Input): Promise<Buffer | null | undefined> {
  const digits = await output.take(4);
  if (digits === undefined) return undefined;
  const length = Number.parseInt(digits.toString('latin1'), 16);
  if (length === 0) return null;
  return length >= 4 ? output.take(length - 4) : undefined;
}

/** The rest of one request, whose first line is known. */
async function* requestOf(first: Buffer, output: Input): AsyncGenerator<Buffer> {
  for (let line: Buffer | null | undefined = first; line; line = await nextLine(output))
    if (line.length > 0) yield line;
}

async function writeAll(stdin: Writable, pieces: AsyncIterable<Buffer>): Promise<void> {
  for await (const piece of pieces) {
    if (stdin.destroyed) return;
    if (!stdin.write(piece))
      await new Promise<void>((ready) => {
        const go = () => {
          stdin.off('drain', go).off('close', go);
          ready();
        };
        stdin.once('drain', go).once('close', go);
      });
  }
}

async function inTime<T>(work: Promise<T>, milliseconds: number): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  try {
    return await Promise.race([
      work,
      new Promise<never>((_, reject) => {
        timer = setTimeout(
          () => reject(new BadAnswer('The answer of the git server ends too early.')),
          milliseconds,
        );
      }),
    ]);
  } finally {
    clearTimeout(timer);
  }
}

/** Runs one of git's programs to its end; `asked` are the lines that it is told first. Its report is returned. */
async function run(
  args: readonly string[],
  folder: string,
  asked: readonly string[],
  { advertisement, exchange, silenceMs }: Remote,
  signal: AbortSignal,
): Promise<{ report: string; failure: GitError | undefined }> {
  const program = await spawnGit(args, { folder, kind: 'stream', signal });
  const { stdin, stdout, ended } = program;
  const output = new Input(stdout as AsyncIterable<Buffer>);
  try {
    stdin.write(Buffer.concat([...asked.map((line) => pktLine(line)), FLUSH, advertisement.bytes]));
    const next = () => inTime(nextLine(output), silenceMs);
    for (let line = await next(); line; line = await next()) {
      const request = Stream.from(requestOf(line, output), { objectMode: false });
      await exchange(request, (pieces) => writeAll(stdin, pieces));
    }
    stdin.end();
    const report = (await output.all()).toString('utf8');
    const ending = await ended;
    signal.throwIfAborted();
    if (ending.code === 0) return { report, failure: undefined };
    const failure = endingError(args, folder, ending);
    if (failure instanceof GitError) return { report, failure };
    throw failure;
  } catch (error) {
    program.signal('SIGKILL');
    // What nobody reads would keep it from ending.
    stdout.destroy();
    await ended;
    throw signal.aborted ? signal.reason : error;
  }
}

const checks = [
  'fetch.fsckObjects=true',
  'fetch.fsck.missingSpaceBeforeDate=ignore',
  'fetch.fsck.zeroPaddedFilemode=ignore',
];

/** Fetches the objects of these refs of the remote; no ref reaches them yet. */
export async function fetchFrom(
  folder: string,
  refs: readonly string[],
  remote: Remote,
  signal: AbortSignal,
): Promise<void> {
  if (refs.length === 0) return;
  const args = [
    ...checks.flatMap((each) => ['-c', each]),
    ...['fetch-pack', '--stateless-rpc', '--stdin', '--quiet', '--no-progress', '--thin', 'remote'],
  ];
  const { failure } = await run(args, folder, refs, remote, signal);
  if (failure) throw failure;
}

/** A change of a ref of the remote; `after` undefined deletes it. */
export type RemoteUpdate = { ref: string; after: string | undefined };

/** Moves refs of the remote, each for itself, whatever they were; returns what the remote refused, by its words. */
export async function pushTo(
  folder: string,
  updates: readonly RemoteUpdate[],
  remote: Remote,
  signal: AbortSignal,
): Promise<Map<string, string>> {
  const refused = new Map<string, string>();
  if (updates.length === 0) return refused;
  const specs = updates.map(({ ref, after }) => (after === undefined ? `:${ref}` : `+${after}:${ref}`));
  const args = [
    'send-pack',
    '--stateless-rpc',
    '--helper-status',
    '--no-progress',
    '--thin',
    '--stdin',
    'remote',
  ];
  const { report, failure } = await run(args, folder, specs, remote, signal);
  const asked = new Set(updates.map(({ ref }) => ref));
  for (const line of report.split('\n')) {
    const [, outcome, ref = '', words] = /^(ok|error) (\S+)(?: (.*))?$/.exec(line) ?? [];
    // Of the remote's other refs it says that there was nothing to send.
    if (outcome === 'error' && asked.has(ref)) refused.set(ref, words ?? 'refused');
  }
  // A refused ref is an ending of its own, too.
  if (failure && refused.size === 0) throw failure;
  return refused;
}
