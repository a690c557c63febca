/** Gives back what the start has left behind: sources, schemas, code that ran once. */
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

/** Milliseconds after which nothing of the start is under way any more. */
const SETTLED = 2_000;

type Collect = (options: { type: 'major'; execution: 'sync'; flavor: 'last-resort' }) => void;

/**
 * Collects once, thoroughly, when the start is over: the engine itself would keep some eighty megabytes of free pages for
 * as long as nothing happens. It takes about as long as one slow request.
 */
export function releaseStartMemory(): void {
  const timer = setTimeout(() => {
    setFlagsFromString('--expose-gc');
    const collect: Collect = runInNewContext('gc');
    collect({ type: 'major', execution: 'sync', flavor: 'last-resort' });
  }, SETTLED);
  timer.unref();
}
