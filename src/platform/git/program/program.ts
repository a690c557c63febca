/**
 * Runs the git program. It reads only our configuration and the repository's, which only we write; it runs no
 * hook of a repository; and user input reaches it on standard input or after `--`, never where an option
 * could be.
 */
import { availableParallelism } from 'node:os';
import type { Readable } from 'node:stream';
import { Failure } from '../../failure.ts';
import { createShare } from '../../fair-share.ts';
import { type Bounds, type Ending, launch, type Program } from './spawner.ts';

/** The program's own refs, hidden from clients. */
export const HIDDEN_REFS = 'refs/ashlar';
/** Refs that the program moves and clients fetch: a push neither changes them nor hears of them. */
export const FETCHED_REFS = 'refs/merge-requests';

/** Configuration that overrides the repository's; as environment, so that git's children get it too. */
const configuration: readonly (readonly [string, string])[] = [
  ['safe.directory', '*'],
  ['core.hooksPath', '/dev/null'],
  ['core.fsync', 'all'],
  ['core.fsyncMethod', 'fsync'],
  ['core.logAllRefUpdates', 'false'],
  ['core.bigFileThreshold', '16m'],
  ['core.packedGitWindowSize', '8m'],
  ['core.packedGitLimit', '96m'],
  ['core.alternateRefsCommand', 'true'],
  ['gc.auto', '0'],
  ['maintenance.auto', 'false'],
  ['receive.autogc', 'false'],
  ['receive.fsckObjects', 'true'],
  // Errors of old tools that cannot be repaired and harm no reader.
  ['receive.fsck.missingSpaceBeforeDate', 'ignore'],
  ['receive.fsck.zeroPaddedFilemode', 'ignore'],
  ['receive.advertisePushOptions', 'true'],
  ['transfer.hideRefs', HIDDEN_REFS],
  ['receive.hideRefs', FETCHED_REFS],
  ['uploadpack.allowFilter', 'true'],
  ['uploadpack.allowAnySHA1InWant', 'true'],
  ['merge.renameLimit', '1000'],
  ['diff.renameLimit', '1000'],
  ['pack.threads', '1'],
  ['pack.windowMemory', '64m'],
  ['pack.deltaCacheSize', '64m'],
  ['protocol.allow', 'never'],
  ['protocol.file.allow', 'always'],
  ['init.defaultBranch', 'main'],
  ['user.useConfigOnly', 'true'],
];

/** The whole environment of git: nothing of this process's own is passed on. */
export const gitEnvironment: Record<string, string> = {
  PATH: '/usr/local/bin:/usr/bin:/bin',
  HOME: '/nonexistent',
  LC_ALL: 'C',
  TZ: 'UTC',
  GIT_CONFIG_NOSYSTEM: '1',
  GIT_CONFIG_GLOBAL: '/dev/null',
  GIT_TERMINAL_PROMPT: '0',
  GIT_OPTIONAL_LOCKS: '0',
  // A pusher of refs/replace could otherwise replace any object.
  GIT_NO_REPLACE_OBJECTS: '1',
  GIT_CONFIG_COUNT: String(configuration.length),
  ...Object.fromEntries(
    configuration.flatMap(([key, value], index) => [
      [`GIT_CONFIG_KEY_${index}`, key],
      [`GIT_CONFIG_VALUE_${index}`, value],
    ]),
  ),
};

/**
 * `short`: on refs and new objects, milliseconds. `long`: costs as much as a history, a tree or a file, whose
 * author decides. `stream`: the same, written as fast as it is read. `reader`: serves requests for single
 * objects.
 */
export type RunKind = 'short' | 'long' | 'stream' | 'reader';

export type GitOptions = {
  /** The folder of the bare repository, if needed. */
  folder?: string;
  /** Written to standard input. */
  input?: Buffer | string | Readable;
  environment?: Record<string, string>;
  /** Ends the program when the client disconnects. */
  signal?: AbortSignal;
  /** `short` by default. */
  kind?: RunKind;
  /** Bytes of output; more ends the program with a failure. 64 MiB by default. */
  maximumOutput?: number;
  /** Truncates longer output instead: the program is ended, and its output so far is the result. */
  cutOutput?: boolean;
};

/** git ended with a code other than 0, or by a signal. */
export class GitError extends Error {
  readonly code: number | null;
  readonly stderr: string;
  /** What it had written before. */
  readonly output: Buffer;
  constructor(
    args: readonly string[],
    code: number | null,
    stderr: string,
    output: Buffer = Buffer.alloc(0),
  ) {
    super(`git ${args[0]} ended with ${code}: ${stderr.trim().slice(0, 2_000)}`);
    this.code = code;
    this.stderr = stderr;
    this.output = output;
  }
}

/** The folder has no repository that git can read. */
export class NoRepository extends Error {}

export const isNoRepository = (stderr: string): boolean => /not a git repository/i.test(stderr);

/** Whether git reports that objects exceed its memory limit. */
export const isTooMuch = (stderr: string): boolean =>
  /out of memory|over limit|cannot allocate/i.test(stderr);

const TOO_LARGE = 'The repository has objects that are too large, or too many, to answer this.';
export const tooLarge = (): Failure => new Failure('unprocessable', TOO_LARGE);

/** git needed more memory than a run of its kind may have. */
export class OutOfMemory extends Failure {
  constructor() {
    super('unprocessable', TOO_LARGE);
  }
}

const MAX_OUTPUT_BYTES = 64 * 1_048_576;

/** Of a processor's time: long runs stand back, and by the clock they would fail where others are busy. */
const MAX_LONG_RUN_SECONDS = 15;

/**
 * Limits of a single allocation, of the heap and of time, and the niceness. Where users decide the cost, an
 * object that would unpack to more is refused before unpacking. A stream may have a delta on a large file, and
 * need both in memory.
 */
const kinds: Record<RunKind, { atOnce?: string; bounds?: Bounds }> = {
  short: {},
  long: { atOnce: '96m', bounds: { heap: 262_144, seconds: MAX_LONG_RUN_SECONDS, niceness: 10 } },
  stream: { atOnce: '256m', bounds: { heap: 655_360, niceness: 10 } },
  reader: { atOnce: '96m' },
};

/** Starts git; the signal kills it. The caller bounds the number of runs, and ends it. */
export async function spawnGit(args: readonly string[], options: GitOptions = {}): Promise<Program> {
  const { folder, environment, signal, kind = 'short' } = options;
  const { atOnce, bounds } = kinds[kind];
  signal?.throwIfAborted();
  const where = folder === undefined ? [] : [`--git-dir=${folder}`];
  const env = { ...gitEnvironment, ...(atOnce && { GIT_ALLOC_LIMIT: atOnce }), ...environment };
  const program = await launch('git', [...where, ...args], env, bounds);
  if (signal) {
    const end = () => program.signal('SIGKILL');
    if (signal.aborted) end();
    else signal.addEventListener('abort', end, { once: true });
    void program.ended.then(() => signal.removeEventListener('abort', end));
  }
  return program;
}

const PLACES = Math.max(4, availableParallelism() * 2);

const places = {
  places: PLACES,
  perCaller: PLACES / 2,
  waitingPerCaller: 200,
  waiting: 1_000,
  timeoutMs: 5_000,
};
const shortRuns = createShare({ of: 'repository operations', ...places });
/** Runs that may take seconds: a queue of them does not delay short runs. */
export const longRuns = createShare({ of: 'long repository operations', ...places });

const SHORT_RUN_TIMEOUT_MS = 30_000;
/** By the clock: for one that waits, for a disk or its turn. */
export const LONG_RUN_TIMEOUT_MS = 60_000;

/** Runs git to its end and returns its output; throws GitError for a code other than 0. */
export async function git(args: readonly string[], options: GitOptions = {}): Promise<Buffer> {
  const share = options.kind === 'long' ? longRuns : shortRuns;
  return share.run(() => runGit(args, options), options.signal);
}

/** The output as text. */
export const gitText = async (args: readonly string[], options: GitOptions = {}): Promise<string> =>
  (await git(args, options)).toString('utf8');

/** The output, or undefined where git ends with the code for no. */
export async function gitUnless(
  code: number,
  args: readonly string[],
  options: GitOptions = {},
): Promise<Buffer | undefined> {
  try {
    return await git(args, options);
  } catch (error) {
    if (error instanceof GitError && error.code === code) return undefined;
    throw error;
  }
}

async function runGit(args: readonly string[], options: GitOptions): Promise<Buffer> {
  const { stdin, stdout, ended, signal } = await spawnGit(args, options);
  const maximum = options.maximumOutput ?? MAX_OUTPUT_BYTES;
  const output: Buffer[] = [];
  let bytes = 0;
  let isSlow = false;
  const deadline = setTimeout(
    () => {
      isSlow = true;
      signal('SIGKILL');
    },
    options.kind === 'long' ? LONG_RUN_TIMEOUT_MS : SHORT_RUN_TIMEOUT_MS,
  );
  stdout.on('data', (chunk: Buffer) => {
    if (bytes <= maximum) output.push(chunk);
    bytes += chunk.length;
    if (bytes > maximum) signal('SIGKILL');
  });
  if (options.input === undefined) stdin.end();
  else if (Buffer.isBuffer(options.input) || typeof options.input === 'string') stdin.end(options.input);
  else options.input.on('error', () => signal('SIGKILL')).pipe(stdin);
  const ending = await ended.finally(() => clearTimeout(deadline));
  if (bytes > maximum) {
    if (options.cutOutput) return Buffer.concat(output).subarray(0, maximum);
    throw new Failure('unprocessable', 'The answer is too large.');
  }
  if (ending.code === 0) return Buffer.concat(output);
  if (isSlow) throw tooLarge();
  options.signal?.throwIfAborted();
  throw endingError(args, options.folder, ending, Buffer.concat(output));
}

/** The error of a run that ended with a code other than 0. */
export function endingError(
  args: readonly string[],
  folder: string | undefined,
  { code, killedBy, complaint }: Ending,
  output?: Buffer,
): Error {
  if (killedBy === 'SIGXCPU') return tooLarge();
  if (isTooMuch(complaint)) return new OutOfMemory();
  return isNoRepository(complaint) ? new NoRepository(folder) : new GitError(args, code, complaint, output);
}
