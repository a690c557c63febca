/**
 * Shares a scarce thing (git processes, connections, threads, memory) among callers: a bound for all, a bound per caller,
 * and no queue in which one caller stands in front of another. The principle is in ARCHITECTURE, "Fair shares".
 */
import { AsyncLocalStorage } from 'node:async_hooks';
import { Failure } from './failure.ts';

/** The caller that a request works for: an address at first, the account once the credential is known. */
export type CallerContext = {
  name: string;
  /** Large data that the request holds: rows, and the text of its answer. */
  memory?: MemoryReservation;
};

const context = new AsyncLocalStorage<CallerContext | undefined>();

/** Runs `work` for the caller. */
export const runForCaller = <T>(caller: CallerContext, work: () => T): T => context.run(caller, work);

/** Names the account behind the request that is being answered: what it takes from now on is the account's share. */
export function nameCaller(name: string): void {
  const store = context.getStore();
  if (store) store.name = name;
}

/** Runs `work` for the program itself: what several callers wait for together is in no single one's share. */
export const runForProgram = <T>(work: () => T): T => context.run(undefined, work);

/** The caller that the present work is for; undefined for the program's own. */
export const currentCaller = (): string | undefined => context.getStore()?.name;

export type ShareLimits = {
  /** What is shared, in the plural, for the text of a refusal: `repository operations`. */
  of: string;
  places: number;
  /** Places that one caller may hold, fewer than all; the program's own work is not bound by it. */
  perCaller: number;
  /** Requests of one caller that may wait; the next one is refused with 429. */
  waitingPerCaller: number;
  /** Requests of all callers that may wait; the next one is refused with 503. */
  waiting: number;
  /** Longest wait for a place, in milliseconds. */
  timeoutMs: number;
};

export type Share = {
  /** Takes a place, in turn; the function that gives it back may be called twice. 429 or 503 when there is none. */
  take(signal?: AbortSignal): Promise<() => void>;
  /** Holds a place while the work runs. */
  run<T>(work: () => Promise<T>, signal?: AbortSignal): Promise<T>;
};

type Queue = { running: number; waiting: Set<() => void>; servedAt: number };

const RETRY_AFTER = { 'retry-after': '5' };
/** Callers that are remembered without a place: making and forgetting a queue for each request would cost more. */
const MAX_IDLE_QUEUES = 1_000;

export type MemoryLimits = {
  /** Of all requests together, and of those of one caller. */
  bytes: number;
  perCaller: number;
  /** Bytes that each request may hold without being counted: whatever others hold, a small one fits. */
  free: number;
};

export type MemoryReservation = {
  bytes(): number;
  /** Holds so many bytes more; 429 or 503 at once where there is no room for them. */
  take(bytes: number): void;
  /** Holds none any more. */
  release(): void;
};

export type MemoryShare = {
  /** The part of the present request. */
  open(): MemoryReservation;
  /** 429 where the present caller holds half of its part already: for work whose size is known when it is done. */
  refuseHalfFull(): void;
};

/**
 * Memory that requests hold: each opens its own part, for its caller. What is taken while nothing is held fits, however
 * much it is: otherwise it would never.
 */
export function createMemoryShare({ bytes: most, perCaller, free }: MemoryLimits): MemoryShare {
  const byCaller = new Map<string | undefined, number>();
  let all = 0;
  const counted = (bytes: number): number => Math.max(0, bytes - free);
  const tooMuchOfCaller = () =>
    new Failure('too_many_requests', '429 Too Many Requests: too much data of yours at once', {
      headers: RETRY_AFTER,
    });
  const tooMuchAlone = () =>
    new Failure(
      'too_many_requests',
      '429 Too Many Requests: too much data for one answer. Ask for fewer records with per_page.',
      { headers: RETRY_AFTER },
    );
  const open = (): MemoryReservation => {
    const caller = currentCaller();
    let held = 0;
    const add = (bytes: number): void => {
      all += bytes;
      const total = (byCaller.get(caller) ?? 0) + bytes;
      if (total === 0) byCaller.delete(caller);
      else byCaller.set(caller, total);
    };
    return {
      bytes: () => held,
      take(bytes) {
        const more = counted(held + bytes) - counted(held);
        const own = byCaller.get(caller) ?? 0;
        if (more > 0 && caller !== undefined && own > 0 && own + more > perCaller)
          throw own === counted(held) ? tooMuchAlone() : tooMuchOfCaller();
        if (more > 0 && all > 0 && all + more > most)
          throw new Failure('unavailable', '503 Service Unavailable: too much data at once', {
            headers: RETRY_AFTER,
          });
        add(more);
        held += bytes;
      },
      release() {
        add(-counted(held));
        held = 0;
      },
    };
  };
  return {
    open,
    refuseHalfFull() {
      const caller = currentCaller();
      if (caller !== undefined && (byCaller.get(caller) ?? 0) > perCaller / 2) throw tooMuchOfCaller();
    },
  };
}

const MEBIBYTE = 1_048_576;
/** Pages of records with long texts, from the database to the client's last byte. */
const requestMemory = createMemoryShare({
  bytes: 96 * MEBIBYTE,
  perCaller: 32 * MEBIBYTE,
  free: MEBIBYTE,
});

/** Counts data that the present request holds until it is answered; 429 or 503 where there is no room for it. */
export function holdForRequest(bytes: number): void {
  const store = context.getStore();
  if (!store) return;
  store.memory ??= requestMemory.open();
  store.memory.take(bytes);
}

/** 429 where the caller's other requests hold much: asked before a list is fetched, whose size nobody knows. */
export function refuseMoreData(): void {
  if (heldByRequest() === 0) requestMemory.refuseHalfFull();
}

/** Bytes that the present request holds. */
const heldByRequest = (): number => context.getStore()?.memory?.bytes() ?? 0;

const isBefore = (one: Queue, other: Queue): boolean =>
  one.running === other.running ? one.servedAt < other.servedAt : one.running < other.running;

/** A place that is free goes to the caller who holds the fewest; among equals, to the one served longest ago. */
export function createShare(limits: ShareLimits): Share {
  const { of, places, perCaller, timeoutMs } = limits;
  const queues = new Map<string | undefined, Queue>();
  let running = 0;
  let waiting = 0;
  let served = 0;

  const headers = RETRY_AFTER;
  const tooManyOfCaller = () =>
    new Failure('too_many_requests', `429 Too Many Requests: too many ${of} of yours at once`, { headers });
  const tooMany = () => new Failure('unavailable', `503 Service Unavailable: too many ${of}`, { headers });

  const mayRun = (caller: string | undefined, queue: Queue): boolean =>
    running < places && (caller === undefined || queue.running < perCaller);

  function queueOf(caller: string | undefined): Queue {
    const known = queues.get(caller);
    if (known) return known;
    if (queues.size >= MAX_IDLE_QUEUES) forgetIdle();
    const queue: Queue = { running: 0, waiting: new Set(), servedAt: 0 };
    queues.set(caller, queue);
    return queue;
  }

  function forgetIdle(): void {
    for (const [caller, queue] of queues)
      if (queue.running === 0 && queue.waiting.size === 0) queues.delete(caller);
  }

  function serve(queue: Queue): void {
    running += 1;
    queue.running += 1;
    queue.servedAt = ++served;
  }

  function giveBack(queue: Queue): void {
    running -= 1;
    queue.running -= 1;
    for (let next = nextInTurn(); next; next = nextInTurn()) {
      const [resolve] = next.waiting;
      if (!resolve) return;
      next.waiting.delete(resolve);
      waiting -= 1;
      serve(next);
      resolve();
    }
  }

  function nextInTurn(): Queue | undefined {
    if (waiting === 0) return undefined;
    let next: Queue | undefined;
    for (const [caller, queue] of queues) {
      if (queue.waiting.size === 0 || !mayRun(caller, queue)) continue;
      if (!next || isBefore(queue, next)) next = queue;
    }
    return next;
  }

  function wait(caller: string | undefined, queue: Queue, signal: AbortSignal | undefined): Promise<void> {
    if (caller !== undefined && queue.waiting.size >= limits.waitingPerCaller) throw tooManyOfCaller();
    if (caller !== undefined && waiting >= limits.waiting) throw tooMany();
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    queue.waiting.add(resolve);
    waiting += 1;
    const leave = (reason: unknown): void => {
      if (!queue.waiting.delete(resolve)) return;
      waiting -= 1;
      reject(reason);
    };
    const aborted = (): void => leave(signal?.reason);
    signal?.addEventListener('abort', aborted, { once: true });
    const timer = setTimeout(() => leave(queue.running > 0 ? tooManyOfCaller() : tooMany()), timeoutMs);
    return promise.finally(() => {
      clearTimeout(timer);
      signal?.removeEventListener('abort', aborted);
    });
  }

  async function take(signal?: AbortSignal): Promise<() => void> {
    signal?.throwIfAborted();
    const caller = currentCaller();
    const queue = queueOf(caller);
    // A place is never free while a request that may have it waits: giveBack() serves those first.
    if (mayRun(caller, queue)) serve(queue);
    else await wait(caller, queue, signal);
    let held = true;
    return () => {
      if (held) giveBack(queue);
      held = false;
    };
  }

  return {
    take,
    async run(work, signal) {
      const give = await take(signal);
      try {
        return await work();
      } finally {
        give();
      }
    },
  };
}
