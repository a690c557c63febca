/** How memory is collected: what the start has left behind is given back, and buffers do not make all of it be walked. */
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

/**
 * Call it before anything is allocated. Buffers count as part of the heap: otherwise 64 MB of them, which bodies of requests
 * and what packs them make in a moment, have all of it walked; reports of errors did so three times a second. And each
 * thread collects its young objects itself: waking helpers costs more than they do where cores are few.
 */
export function tuneCollector(): void {
  setFlagsFromString('--external-memory-accounted-in-global-limit');
  setFlagsFromString('--no-parallel-scavenge');
  setFlagsFromString('--heap-growing-percent=50');
}

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
