/** Runs of git that take long: streamed to a client, who may hang up, or ended when they take too long. */
import { Readable } from 'node:stream';
import { Failure } from '../failure.ts';
import { GitError, type GitOptions, git, spawnGit } from './program.ts';
import type { Program } from './spawner.ts';

/** How long git may think about one question, in milliseconds. */
export const PATIENCE = 30_000;

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
  streams += 1;
  const starting = spawnGit(args, options).then((program) => {
    program.stdin.end();
    return program;
  });
  const stream = outputOf(starting, `git ${args[0]}`);
  stream.once('close', () => {
    streams -= 1;
  });
  return stream;
}

/** What a program writes, as it is read; the stream fails when the program does, and kills it when it is destroyed. */
export function outputOf(starting: Promise<Program>, name: string): Readable {
  let program: Program | undefined;
  const stream = new Readable({
    construct(done) {
      starting.then((started) => {
        program = started;
        attend(program);
        done();
      }, done);
    },
    read: () => void program?.stdout.resume(),
    destroy(error, done) {
      program?.signal('SIGKILL');
      program?.stdout.destroy();
      done(error);
    },
  });
  function attend({ stdout, ended }: Program): void {
    stdout.on('data', (chunk: Buffer) => {
      if (!stream.push(chunk)) stdout.pause();
    });
    void ended.then(({ code, complaint }) =>
      code === 0 ? stream.push(null) : stream.destroy(new GitError([name], code, complaint)),
    );
  }
  return stream;
}
