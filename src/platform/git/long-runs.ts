/** Runs of git that take long: streamed to a client, who may hang up, or ended when they take too long. */
import type { ChildProcess } from 'node:child_process';
import { Readable } from 'node:stream';
import { Failure } from '../failure.ts';
import { GitError, type GitOptions, git, spawnGit } from './program.ts';

/** How long git may think about one question, in milliseconds. */
export const PATIENCE = 30_000;

/** Whether a program was ended because its time was over. */
export const isAbort = (error: unknown): boolean => error instanceof Error && error.name === 'AbortError';

/** The output of git; 422 when it does not end in time. */
export const gitInTime = (args: readonly string[], options: GitOptions): Promise<Buffer> =>
  git(args, { ...options, milliseconds: PATIENCE });

/** The same as text. */
export const textInTime = async (args: readonly string[], options: GitOptions): Promise<string> =>
  (await gitInTime(args, options)).toString('utf8');

const MOST_STREAMS = 64;
let streams = 0;

/** The output of git while it runs; whoever destroys the stream ends git. 503 while too many of them run. */
export function streamGit(args: readonly string[], options: GitOptions): Readable {
  if (streams >= MOST_STREAMS)
    throw new Failure('unavailable', '503 Service Unavailable: too many downloads', {
      headers: { 'retry-after': '5' },
    });
  const child = spawnGit(args, options);
  streams += 1;
  child.stdin?.on('error', () => {});
  child.stdin?.end();
  const stream = outputOf(child, `git ${args[0]}`);
  stream.once('close', () => {
    streams -= 1;
  });
  return stream;
}

const MOST_STDERR = 4_096;

/** What a program writes, as it is read; the stream fails when the program does, and kills it when it is destroyed. */
export function outputOf(child: ChildProcess, name: string): Readable {
  const { stdout, stderr } = child;
  let said = '';
  stderr?.on('data', (chunk: Buffer) => {
    if (said.length < MOST_STDERR) said += chunk.toString('utf8');
  });
  const stream = new Readable({
    read: () => void stdout?.resume(),
    destroy(error, done) {
      child.kill('SIGKILL');
      done(error);
    },
  });
  stdout?.on('data', (chunk: Buffer) => {
    if (!stream.push(chunk)) stdout.pause();
  });
  child.on('error', (error) => stream.destroy(error));
  child.on('close', (code) => {
    if (code === 0) stream.push(null);
    else stream.destroy(new GitError([name], code, said));
  });
  return stream;
}
