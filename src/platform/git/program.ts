/**
 * Runs the git program. It reads no configuration but ours and the repository's own, which only we write; it runs no hook
 * of a repository; and what a user gave reaches it on standard input or behind `--`, never where an option could stand.
 */
import { availableParallelism } from 'node:os';
import type { Readable } from 'node:stream';
import { Failure } from '../failure.ts';
import { launch, type Program } from './spawner.ts';

/** What is below it is ours: nobody is told of it. */
export const HIDDEN_REFS = 'refs/ashlar';

/** What is always so, whatever a repository says; as environment, so that the children of git obey too. */
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
  // What old tools wrote and nobody can mend any more; it harms no reader.
  ['receive.fsck.missingSpaceBeforeDate', 'ignore'],
  ['receive.fsck.zeroPaddedFilemode', 'ignore'],
  ['receive.advertisePushOptions', 'true'],
  ['transfer.hideRefs', HIDDEN_REFS],
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

/** The whole environment of git: nothing of this process's own but where programs are. */
export const gitEnvironment: Record<string, string> = {
  PATH: '/usr/local/bin:/usr/bin:/bin',
  HOME: '/nonexistent',
  LC_ALL: 'C',
  TZ: 'UTC',
  GIT_CONFIG_NOSYSTEM: '1',
  GIT_CONFIG_GLOBAL: '/dev/null',
  GIT_TERMINAL_PROMPT: '0',
  GIT_OPTIONAL_LOCKS: '0',
  // Whoever can push refs/replace could otherwise change what an id stands for.
  GIT_NO_REPLACE_OBJECTS: '1',
  GIT_CONFIG_COUNT: String(configuration.length),
  ...Object.fromEntries(
    configuration.flatMap(([key, value], index) => [
      [`GIT_CONFIG_KEY_${index}`, key],
      [`GIT_CONFIG_VALUE_${index}`, value],
    ]),
  ),
};

export type GitOptions = {
  /** The folder of the bare repository; absent for what needs none. */
  folder?: string;
  /** Written to standard input. */
  input?: Buffer | string | Readable;
  environment?: Record<string, string>;
  /** Ends the program when the client is gone. */
  signal?: AbortSignal;
  /** How long it may run; half a minute unless told. */
  milliseconds?: number;
  /** Bytes of output; more ends the program with a failure. 64 MiB unless told. */
  maximumOutput?: number;
  /** Whether what is beyond that is cut off instead: the program is ended, and what it wrote so far is the output. */
  cutOutput?: boolean;
};

/** git ended with another code than 0, or by a signal. */
export class GitError extends Error {
  readonly code: number | null;
  readonly stderr: string;
  constructor(args: readonly string[], code: number | null, stderr: string) {
    super(`git ${args[0]} ended with ${code}: ${stderr.trim().slice(0, 2_000)}`);
    this.code = code;
    this.stderr = stderr;
  }
}

/** There is no repository in the folder, or none that git can read. */
export class NoRepository extends Error {}

export const isNoRepository = (stderr: string): boolean => /not a git repository/i.test(stderr);

const MOST_OUTPUT = 64 * 1_048_576;

/** Starts git; the signal kills it. Whoever calls it bounds how many run, and ends it. */
export async function spawnGit(args: readonly string[], options: GitOptions = {}): Promise<Program> {
  const { folder, environment, signal } = options;
  signal?.throwIfAborted();
  const where = folder === undefined ? [] : [`--git-dir=${folder}`];
  const program = await launch('git', [...where, ...args], { ...gitEnvironment, ...environment });
  if (signal) {
    const end = () => program.signal('SIGKILL');
    if (signal.aborted) end();
    else signal.addEventListener('abort', end, { once: true });
    void program.ended.then(() => signal.removeEventListener('abort', end));
  }
  return program;
}

/** At most so many short runs at once; the rest wait, and beyond a bound they are told so. */
const PLACES = Math.max(4, availableParallelism() * 2);
const MOST_WAITING = 1_000;
let running = 0;
const waiting: (() => void)[] = [];

/** How long somebody waits for a place, and how long a short run may take. */
const PATIENCE_MILLISECONDS = 30_000;

const busy = (): Failure =>
  new Failure('unavailable', '503 Service Unavailable: too many repository operations', {
    headers: { 'retry-after': '5' },
  });

async function takePlace(): Promise<void> {
  if (running < PLACES) {
    running += 1;
    return;
  }
  if (waiting.length >= MOST_WAITING) throw busy();
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  waiting.push(resolve);
  const timer = setTimeout(() => {
    const place = waiting.indexOf(resolve);
    if (place < 0) return;
    waiting.splice(place, 1);
    reject(busy());
  }, PATIENCE_MILLISECONDS);
  try {
    await promise;
  } finally {
    clearTimeout(timer);
  }
}

function givePlace(): void {
  const next = waiting.shift();
  if (next) next();
  else running -= 1;
}

/** Runs git to its end and returns its output; throws GitError for another code than 0. */
export async function git(args: readonly string[], options: GitOptions = {}): Promise<Buffer> {
  await takePlace();
  try {
    return await runGit(args, options);
  } finally {
    givePlace();
  }
}

/** The output as text. */
export const gitText = async (args: readonly string[], options: GitOptions = {}): Promise<string> =>
  (await git(args, options)).toString('utf8');

/** The output, or undefined where git ends with the code that means no. */
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
  const maximum = options.maximumOutput ?? MOST_OUTPUT;
  const output: Buffer[] = [];
  let bytes = 0;
  let isSlow = false;
  const patience = setTimeout(() => {
    isSlow = true;
    signal('SIGKILL');
  }, options.milliseconds ?? PATIENCE_MILLISECONDS);
  stdout.on('data', (chunk: Buffer) => {
    if (bytes <= maximum) output.push(chunk);
    bytes += chunk.length;
    if (bytes > maximum) signal('SIGKILL');
  });
  if (options.input === undefined) stdin.end();
  else if (Buffer.isBuffer(options.input) || typeof options.input === 'string') stdin.end(options.input);
  else options.input.on('error', () => signal('SIGKILL')).pipe(stdin);
  const { code, complaint } = await ended.finally(() => clearTimeout(patience));
  if (bytes > maximum) {
    if (options.cutOutput) return Buffer.concat(output).subarray(0, maximum);
    throw new Failure('unprocessable', 'The answer is too large.');
  }
  if (code === 0) return Buffer.concat(output);
  if (isSlow) throw new Failure('unprocessable', 'The repository is too large to answer this.');
  options.signal?.throwIfAborted();
  if (isNoRepository(complaint)) throw new NoRepository(options.folder);
  throw new GitError(args, code, complaint);
}
