/** How memory is collected: what the start has left behind is given back, and buffers do not make all of it be walked. */
import { PerformanceObserver } from 'node:perf_hooks';
import { getHeapSpaceStatistics, getHeapStatistics, setFlagsFromString } from 'node:v8';
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

type Collect = (
  options: { execution: 'sync' } & ({ type: 'minor' } | { type: 'major'; flavor: 'regular' | 'last-resort' }),
) => void;

/** What collects this thread's heap when it is called: a few milliseconds where little of it lives. */
export function collector(): Collect {
  setFlagsFromString('--expose-gc');
  return runInNewContext('gc');
}

const MEBIBYTE = 1_048_576;
/** For young objects: the engine would take 128 MiB, more than all that lives long. */
const MAX_YOUNG_BYTES = 32 * MEBIBYTE;
const LOOK_INTERVAL_MS = 50;
/** Pieces of bodies and answers, which are young: the engine lets 128 MiB of them lie. */
const MAX_BUFFER_GROWTH_BYTES = 16 * MEBIBYTE;
/** Long texts: once it has met many of them alive, the engine lets as many more come. */
const MAX_HEAP_GROWTH_BYTES = 32 * MEBIBYTE;

/**
 * Bounds what a burst of long bodies and answers leaves behind. The engine takes such bounds only as arguments of its
 * process, but how fast its space for young objects grows can be said while it runs, and the rest be collected for it.
 */
export function boundGarbage(): void {
  const collect = collector();
  let mayGrow = true;
  new PerformanceObserver(() => {
    const young = getHeapSpaceStatistics().find(({ space_name }) => space_name === 'new_space');
    const grows = (young?.space_size ?? 0) < MAX_YOUNG_BYTES;
    if (grows !== mayGrow) setFlagsFromString(`--semi-space-growth-factor=${grows ? 2 : 1}`);
    mayGrow = grows;
  }).observe({ entryTypes: ['gc'] });

  let leastBuffers = Number.POSITIVE_INFINITY;
  let leastHeap = Number.POSITIVE_INFINITY;
  const look = (): void => {
    const { external_memory: buffers, used_heap_size: heap } = getHeapStatistics();
    leastBuffers = Math.min(leastBuffers, buffers);
    leastHeap = Math.min(leastHeap, heap);
    const tooMuchHeap = heap > leastHeap + MAX_HEAP_GROWTH_BYTES;
    if (!tooMuchHeap && buffers <= leastBuffers + MAX_BUFFER_GROWTH_BYTES) return;
    collect(
      tooMuchHeap
        ? { execution: 'sync', type: 'major', flavor: 'regular' }
        : { execution: 'sync', type: 'minor' },
    );
    const left = getHeapStatistics();
    leastBuffers = left.external_memory;
    if (tooMuchHeap) leastHeap = left.used_heap_size;
  };
  setInterval(look, LOOK_INTERVAL_MS).unref();
}

/** Milliseconds after which nothing of the start is under way any more. */
const STARTUP_MS = 2_000;

/**
 * Collects once, thoroughly, when the start is over: the engine itself would keep some eighty megabytes of free pages for
 * as long as nothing happens. It takes about as long as one slow request.
 */
export function releaseStartMemory(): void {
  const timer = setTimeout(() => {
    collector()({ type: 'major', execution: 'sync', flavor: 'last-resort' });
  }, STARTUP_MS);
  timer.unref();
}
