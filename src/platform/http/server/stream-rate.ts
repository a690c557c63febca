/**
 * Ends clients that read a response, or send a body, so slowly that they block resources which others wait
 * for: a git process, a repository, memory. A time-out by silence would let a byte now and then pass.
 */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { monotonic } from '../../clock.ts';

/** The minimum rate while the server waits for a client. */
export type RateRule = { bytesPerSecond: number; periodMs: number };

/** Bytes moved, and milliseconds in which the server waited for the client. */
export type Progress = { bytes: number; waitedMs: number };

/**
 * 1 KiB per second is a seventh of the slowest modem that a git client was ever used with. The system's
 * buffers drain in steps of up to half a megabyte, so an honest client may seem idle for almost a minute.
 */
const SLOWEST_READER: RateRule = { bytesPerSecond: 1_024, periodMs: 60_000 };
/** Some git clients begin to send before they have compressed all. */
const SLOWEST_SENDER: RateRule = { bytesPerSecond: 1_024, periodMs: 120_000 };

const NO_PROGRESS: Progress = { bytes: 0, waitedMs: 0 };

/**
 * The progress after more time; undefined where the client was too slow in the period that ended. Only time
 * counts in which the server waited for the client.
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
  /** Watches the response until it is sent. */
  watchAnswer(response: ServerResponse): void;
  /** Watches the body until it has arrived. */
  watchBody(request: IncomingMessage): void;
  stop(): void;
};

const LOOK_INTERVAL_MS = 1_000;

/** `rule` is for tests, which cannot wait minutes. */
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
        // Bytes in the system's buffers count as sent.
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
        // Received bytes wait for the server.
        isWaiting: () => !request.complete && request.readableLength === 0,
        end: () => socket.destroy(),
      });
      request.once('end', unwatch).once('close', unwatch);
    },
    stop: () => clearInterval(timer),
  };
}
