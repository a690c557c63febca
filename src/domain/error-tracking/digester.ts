/** Hands reports to the thread that digests them, and watches over it: one that takes too long or too much ends it. */
import { extname } from 'node:path';
import { Worker } from 'node:worker_threads';
import type { Digested, ReportRow } from './digest-report.ts';

/** What one report may take: the worst that is let in takes a sixth of that, where nobody else goes first. */
const LIMITS = { milliseconds: 30_000, memoryMb: 512 };
/** Milliseconds after which a thread without work ends: it holds tens of MiB. */
const IDLE = 30_000;

/** `fatal`: the report ended the thread. `later`: another one did, before its turn came. */
export type Outcome = Digested | 'fatal' | 'later';

export type Digester = {
  /** Rejects when the thread cannot be started at all. */
  digest(report: ReportRow): Promise<Outcome>;
  stop(): Promise<void>;
};

type Waiting = { resolve(outcome: Outcome): void; reject(error: Error): void };
type Message = { isReady: true } | { isReady?: never; id: number; digested: Digested };

/** `personKey` keys the digests of who met an error. */
export function createDigester(personKey: Buffer, limits = LIMITS): Digester {
  /** In the order in which the thread takes them. */
  const waiting = new Map<number, Waiting>();
  let thread: Worker | undefined;
  let isReady = false;
  let timer: NodeJS.Timeout | undefined;
  let asked = 0;
  let isStopped = false;

  /** From now on the next report has its time, or the thread its leisure. */
  function watch(worker: Worker): void {
    clearTimeout(timer);
    timer = setTimeout(() => void worker.terminate(), waiting.size > 0 ? limits.milliseconds : IDLE);
    timer.unref();
  }

  function ended(failure: Error): void {
    clearTimeout(timer);
    thread = undefined;
    const lost = [...waiting.values()];
    waiting.clear();
    lost.forEach(({ resolve, reject }, place) => {
      if (isReady) resolve(place === 0 ? 'fatal' : 'later');
      else reject(failure);
    });
    isReady = false;
  }

  function open(): Worker {
    const worker = new Worker(new URL(`./digest-thread${extname(import.meta.url)}`, import.meta.url), {
      workerData: personKey.toString('hex'),
      resourceLimits: { maxOldGenerationSizeMb: limits.memoryMb },
    });
    let failure = new Error('the thread that digests reports ended');
    worker.on('message', (message: Message) => {
      if (message.isReady) isReady = true;
      else {
        waiting.get(message.id)?.resolve(message.digested);
        waiting.delete(message.id);
      }
      watch(worker);
    });
    worker.on('error', (error: Error) => {
      failure = error;
    });
    worker.on('exit', () => ended(failure));
    worker.unref();
    return worker;
  }

  return {
    digest(report) {
      if (isStopped) return Promise.resolve('later');
      thread ??= open();
      const id = ++asked;
      const { promise, resolve, reject } = Promise.withResolvers<Outcome>();
      waiting.set(id, { resolve, reject });
      thread.postMessage({ id, report });
      if (isReady && waiting.size === 1) watch(thread);
      return promise;
    },
    async stop() {
      isStopped = true;
      // Not the fault of any of them.
      for (const { resolve } of waiting.values()) resolve('later');
      waiting.clear();
      await thread?.terminate();
    },
  };
}
