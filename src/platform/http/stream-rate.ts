/**
 * Ends clients that read an answer, or send a body, so slowly that they only hold what others wait for: a git process, a
 * repository, memory. The one rule of its kind: a byte now and then, which any time-out by silence lets pass, is not enough.
 */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { monotonic } from '../clock.ts';

/** The least that a client must do while the server waits for it. */
export type RateRule = { bytesPerSecond: number; periodMs: number };

/** Bytes that moved, and milliseconds of that in which the client was waited for. */
export type Progress = { bytes: number; waitedMs: number };

/**
 * 1 KiB per second is a seventh of the slowest modem that a git client was ever used with. The system's buffers empty in
 * steps of up to half a megabyte, so that over less than a minute an honest client may seem to stand still.
 */
const SLOWEST_READER: RateRule = { bytesPerSecond: 1_024, periodMs: 60_000 };
/** Some clients of git begin to send before they have compressed what they send. */
const SLOWEST_SENDER: RateRule = { bytesPerSecond: 1_024, periodMs: 120_000 };

const NO_PROGRESS: Progress = { bytes: 0, waitedMs: 0 };

/**
 * What is known after some more time, and undefined where the client was too slow in the period that ended with it. Only
 * time counts in which the client was waited for: a slow server is not its fault.
 */
export function addProgress(before: Progress, more: Progress, rule: RateRule): Progress | undefined {
  const bytes = before.bytes + more.bytes;
  const waitedMs = before.waitedMs + more.waitedMs;
  if (waitedMs < rule.periodMs) return { bytes, waitedMs };
  return bytes * 1_000 < rule.bytesPerSecond * waitedMs ? undefined : NO_PROGRESS;
}

type Watched = {
  rule: RateRule;
  progress: Progress;
  seenBytes: number;
  countBytes(): number;
  isWaiting(): boolean;
  end(): void;
};

export type RateWatch = {
  /** Until the answer has been sent. */
  watchAnswer(response: ServerResponse): void;
  /** Until the body has arrived. */
  watchBody(request: IncomingMessage): void;
  stop(): void;
};

const LOOK_INTERVAL_MS = 1_000;

/** `rule` is for tests, which have no minutes. */
export function createRateWatch(rule?: RateRule): RateWatch {
  const all = new Set<Watched>();
  let looked = monotonic();

  function look(): void {
    const at = monotonic();
    const elapsedMs = at - looked;
    looked = at;
    for (const each of all) {
      const bytes = each.countBytes();
      const more = { bytes: bytes - each.seenBytes, waitedMs: each.isWaiting() ? elapsedMs : 0 };
      each.seenBytes = bytes;
      const progress = addProgress(each.progress, more, each.rule);
      if (progress) each.progress = progress;
      else {
        all.delete(each);
        each.end();
      }
    }
  }
  const timer = setInterval(look, rule ? rule.periodMs / 4 : LOOK_INTERVAL_MS);
  timer.unref();

  function watch(each: Omit<Watched, 'progress' | 'seenBytes'>): () => void {
    const watched = { ...each, progress: NO_PROGRESS, seenBytes: each.countBytes() };
    all.add(watched);
    return () => all.delete(watched);
  }

  return {
    watchAnswer(response) {
      const { socket } = response;
      if (!socket || response.writableFinished) return;
      const unwatch = watch({
        rule: rule ?? SLOWEST_READER,
        countBytes: () => socket.bytesWritten - socket.writableLength,
        // What the system's buffers take, no client is waited for.
        isWaiting: () => socket.writableLength > 0,
        end: () => response.destroy(),
      });
      response.once('close', unwatch);
    },
    watchBody(request) {
      const { socket } = request;
      const unwatch = watch({
        rule: rule ?? SLOWEST_SENDER,
        countBytes: () => socket.bytesRead,
        // What is here already waits for the server.
        isWaiting: () => !request.complete && request.readableLength === 0,
        end: () => socket.destroy(),
      });
      request.once('end', unwatch).once('close', unwatch);
    },
    stop: () => clearInterval(timer),
  };
}
