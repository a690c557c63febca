/** A whole difference as git writes it, streamed: nothing is left out. */
import { Readable } from 'node:stream';
import { Failure } from '../../failure.ts';
import type { GitFolder } from '../objects.ts';
import { streamGit } from '../program/long-runs.ts';
import { LONG_RUN_TIMEOUT_MS, tooLarge } from '../program/program.ts';
import { countDifferences, MAX_RENAMED } from './diff.ts';
import type { DiffEnds } from './diff-runs.ts';

/**
 * The bytes of `git diff`; destroying the stream ends git. Renames are found by content unless that takes too much. Fails
 * with 422 where the trees have too many files, with 429 or 503 when it gets no slot.
 */
export function streamDiff(git: GitFolder, ends: DiffEnds): Readable {
  const gone = new AbortController();
  let running: Readable | undefined;
  const start = (renames: string): Readable => {
    gone.signal.throwIfAborted();
    const options = [renames, '--no-ext-diff', '--no-textconv', '--no-color'];
    running = streamGit(['diff', ...options, ends.from, ends.to, '--'], { folder: git.folder });
    return running;
  };
  const stream = Readable.from(wholeDiff(git, ends, start), { objectMode: false });
  return stream.once('close', () => {
    gone.abort();
    running?.destroy();
  });
}

async function* wholeDiff(
  git: GitFolder,
  ends: DiffEnds,
  start: (renames: string) => Readable,
): AsyncGenerator<Buffer> {
  const files = await countDifferences(git, ends);
  let isBegun = false;
  try {
    if (files <= MAX_RENAMED) {
      for await (const chunk of beginningInTime(start('-M'))) {
        isBegun = true;
        yield chunk;
      }
      return;
    }
  } catch (error) {
    const isTooMuch = error instanceof Failure && error.kind === 'unprocessable';
    if (isBegun || !isTooMuch) throw error;
  }
  yield* start('--no-renames');
}

/** git writes nothing before it has found the renames: 422 where that takes too long. */
async function* beginningInTime(output: Readable): AsyncGenerator<Buffer> {
  const deadline = setTimeout(() => output.destroy(tooLarge()), LONG_RUN_TIMEOUT_MS);
  try {
    for await (const chunk of output) {
      clearTimeout(deadline);
      yield chunk as Buffer;
    }
  } finally {
    clearTimeout(deadline);
  }
}
