/** Runs of git whose cost depends on the repository: with a timeout, or streamed to a client. */
import { Readable } from 'node:stream';
import { createShare } from '../../fair-share.ts';
import { GitError, type GitOptions, git, isTooMuch, spawnGit, tooLarge } from './program.ts';
import type { Program } from './spawner.ts';

/** The output of git; 422 at the timeout or the memory limit. */
export const gitInTime = (args: readonly string[], options: GitOptions): Promise<Buffer> =>
  git(args, { ...options, kind: 'long' });

/** The same as text. */
export const textInTime = async (args: readonly string[], options: GitOptions): Promise<string> =>
  (await gitInTime(args, options)).toString('utf8');

/** A slot while the client reads: the server ends clients that read almost nothing (http/server/stream-rate.ts). */
const streams = createShare({
  of: 'downloads',
  places: 32,
  perCaller: 8,
  waitingPerCaller: 50,
  waiting: 200,
  timeoutMs: 5_000,
});

/** Streams the output of git; destroying the stream ends git. Fails with 429 or 503 when it gets no slot. */
export function streamGit(args: readonly string[], options: GitOptions): Readable {
  const gone = new AbortController();
  let give = (): void => {};
  const starting = (async () => {
    give = await streams.take(gone.signal);
    const program = await spawnGit(args, { ...options, kind: 'stream', signal: gone.signal });
    program.stdin.end();
    return program;
  })();
  return outputOf(starting, `git ${args[0]}`).once('close', () => {
    gone.abort();
    void starting.catch(() => {}).then(() => give());
  });
}

/** The output of a program; the stream fails when the program does, and kills it when destroyed. */
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
      code === 0
        ? stream.push(null)
        : stream.destroy(isTooMuch(complaint) ? tooLarge() : new GitError([name], code, complaint)),
    );
  }
  return stream;
}
