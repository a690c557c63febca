/** How memory is collected: what a burst leaves behind is bounded, and buffers do not make all of it be walked. */
import {
  constants,
  type NodeGCPerformanceDetail,
  type PerformanceEntry,
  PerformanceObserver,
} from 'node:perf_hooks';
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
  options: { execution: 'sync' } & ({ type: 'minor' } | { type: 'major'; flavor: 'regular' }),
) => void;

/** What collects this thread's heap when it is called, in one go: a millisecond or so for each MB that lives. */
export function collector(): Collect {
  setFlagsFromString('--expose-gc');
  return runInNewContext('gc');
}

const MEBIBYTE = 1_048_576;

const MAX_DROPPED_BYTES = 8 * MEBIBYTE;
let dropped = 0;
let collectDropped: Collect | undefined;

/**
 * Counts pieces of a body that nobody needs any more, and collects them in time: half a millisecond for eight MiB. The engine
 * would let them lie until it walks all that lives, which took a quarter of the time of a large upload.
 */
export function dropPieces(bytes: number): void {
  dropped += bytes;
  if (dropped < MAX_DROPPED_BYTES) return;
  dropped = 0;
  collectDropped ??= collector();
  collectDropped({ execution: 'sync', type: 'minor' });
}

/** For young objects: the engine would take 128 MiB, more than all that lives long. */
const MAX_YOUNG_BYTES = 32 * MEBIBYTE;
const LOOK_INTERVAL_MS = 50;
/** Pieces of bodies and answers, which are young: the engine lets 128 MiB of them lie. */
const MAX_BUFFER_GROWTH_BYTES = 16 * MEBIBYTE;
/**
 * Since the last collection the heap is marked from here on, in small steps. Long texts: once it has met many of them alive,
 * the engine lets as many more come.
 */
const MARKED_HEAP_GROWTH_BYTES = 32 * MEBIBYTE;
/** Garbage that comes faster than it is marked is collected at once, and everybody waits. */
const MAX_HEAP_GROWTH_BYTES = 64 * MEBIBYTE;

const isOfWholeHeap = ({ detail }: PerformanceEntry & { detail?: NodeGCPerformanceDetail }): boolean =>
  detail?.kind === constants.NODE_PERFORMANCE_GC_MAJOR;

/**
 * Bounds what a burst of long bodies and answers leaves behind. The engine takes such bounds only as arguments of its
 * process, but how fast its space for young objects grows can be said while it runs, and the rest be collected for it.
 */
export function boundGarbage(): void {
  const collect = collector();
  let mayGrow = true;
  let isMarked = false;
  /** Whether the engine marks as soon as the heap grows by a hundredth, or when its own bounds say. */
  const mark = (early: boolean): void => {
    if (early !== isMarked) setFlagsFromString(`--incremental-marking-soft-trigger=${early ? 1 : 0}`);
    isMarked = early;
  };
  let leastBuffers = Number.POSITIVE_INFINITY;
  let livingHeap = getHeapStatistics().used_heap_size;
  new PerformanceObserver((list) => {
    // The engine's own collections count too.
    if (list.getEntries().some(isOfWholeHeap)) {
      livingHeap = getHeapStatistics().used_heap_size;
      mark(false);
    }
    const young = getHeapSpaceStatistics().find(({ space_name }) => space_name === 'new_space');
    const grows = (young?.space_size ?? 0) < MAX_YOUNG_BYTES;
    if (grows !== mayGrow) setFlagsFromString(`--semi-space-growth-factor=${grows ? 2 : 1}`);
    mayGrow = grows;
  }).observe({ entryTypes: ['gc'] });

  const look = (): void => {
    const { external_memory: buffers, used_heap_size: heap } = getHeapStatistics();
    leastBuffers = Math.min(leastBuffers, buffers);
    if (heap > livingHeap + MARKED_HEAP_GROWTH_BYTES) mark(true);
    const tooMuchHeap = heap > livingHeap + MAX_HEAP_GROWTH_BYTES;
    if (!tooMuchHeap && buffers <= leastBuffers + MAX_BUFFER_GROWTH_BYTES) return;
    collect(
      tooMuchHeap
        ? { execution: 'sync', type: 'major', flavor: 'regular' }
        : { execution: 'sync', type: 'minor' },
    );
    leastBuffers = getHeapStatistics().external_memory;
  };
  setInterval(look, LOOK_INTERVAL_MS).unref();
}
