/** Parses reports in a thread, which exists while there are reports. */
import { extname } from 'node:path';
import { Worker } from 'node:worker_threads';
import { badRequest, type Failure } from '../../../platform/failure.ts';
import { refusal, tooLarge } from './limits.ts';
import type { Arrived, ReadReport, Refused } from './report.ts';

export type ReportReader = {
  /** Throws 413 where the report or an event is too large, 400 for no report, 415 for an unknown packing. */
  read(arrived: Arrived): Promise<ReadReport>;
  stop(): Promise<void>;
};

/** Waiting reports, beyond which a further one gets 503 at once. */
const MAX_WAITING = 2_000;
/** Milliseconds after which an idle thread ends, because it uses megabytes. */
const IDLE_MS = 30_000;
/** Memory for the largest unpacked report and its parsed form. */
const MEMORY_MB = 256;

const failures: Record<Refused, () => Failure> = {
  too_large: tooLarge,
  unreadable: () => {
    const { kind, publicMessage } = badRequest('Failed to parse sentry request');
    return refusal(kind, String(publicMessage), 'failed to parse');
  },
  unknown_packing: () =>
    refusal('unsupported_media_type', '415 Unsupported Media Type', 'unknown content encoding'),
};

const unavailable = (): Failure =>
  refusal('unavailable', '503 Service Unavailable: overloaded', 'overloaded', { 'retry-after': '5' });

type Waiting = { resolve(report: ReadReport): void; reject(error: Error): void };
type Message = { id: number; outcome: ReadReport | Refused };

/** A reader with a thread of its own. */
export function createReader(): ReportReader {
  const waiting = new Map<number, Waiting>();
  let thread: Worker | undefined;
  let idle: NodeJS.Timeout | undefined;
  let requested = 0;

  function open(): Worker {
    const worker = new Worker(new URL(`./report-thread${extname(import.meta.url)}`, import.meta.url), {
      resourceLimits: { maxOldGenerationSizeMb: MEMORY_MB },
    });
    worker.on('message', ({ id, outcome }: Message) => {
      const one = waiting.get(id);
      waiting.delete(id);
      if (typeof outcome === 'string') one?.reject(failures[outcome]());
      else one?.resolve(outcome);
      idle?.refresh();
    });
    // A report exceeded the memory of the thread, or the thread did not start; `exit` follows.
    worker.on('error', () => undefined);
    worker.on('exit', () => {
      if (thread !== worker) return;
      thread = undefined;
      for (const { reject } of waiting.values()) reject(unavailable());
      waiting.clear();
    });
    worker.unref();
    idle ??= setTimeout(rest, IDLE_MS).unref();
    return worker;
  }

  async function close(): Promise<void> {
    clearTimeout(idle);
    idle = undefined;
    const ended = thread;
    thread = undefined;
    await ended?.terminate();
  }

  /** Ends the thread unless reports wait. */
  function rest(): void {
    if (waiting.size > 0) idle?.refresh();
    else void close();
  }

  return {
    async read(arrived) {
      if (waiting.size >= MAX_WAITING) throw unavailable();
      thread ??= open();
      const id = ++requested;
      const { promise, resolve, reject } = Promise.withResolvers<ReadReport>();
      waiting.set(id, { resolve, reject });
      // A copy: the transfer of a pooled buffer would take the pool with it.
      const body = new Uint8Array(arrived.body);
      thread.postMessage({ id, arrived: { ...arrived, body } }, [body.buffer]);
      return promise;
    },
    stop: close,
  };
}
