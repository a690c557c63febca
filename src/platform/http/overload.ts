/** Sheds load early: beyond a bound of requests in flight, or when the event loop lags, 503 at once beats a slow answer. */
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { monotonic } from '../clock.ts';
import { Failure } from '../failure.ts';

export type LoadGauge = {
  /** Counts a request in; the failure when it should be shed. Every call is followed by one leave(). */
  enter(route: string): Failure | undefined;
  leave(): void;
  /** From now on everything but what is in flight is refused. */
  close(): void;
  /** Whether it was called: a connection that an answer leaves open then would hold up the end. */
  closing(): boolean;
  inFlight(): number;
  /** Median delay of the event loop since the longest was asked for last, in seconds. */
  delay(): number;
  /** The longest since this was asked last, in seconds. */
  longestDelay(): number;
  stop(): void;
};

const NANOSECONDS = 1e9;
/** In milliseconds. */
const RESOLUTION_MS = 20;
/** Milliseconds between two looks at how late the event loop is. */
const LOOK_INTERVAL_MS = 500;

/**
 * `maximum` requests in flight; `maximumDelay` in seconds, by which the event loop has to be late twice in a row: what stood
 * still once is over, and shedding would cure nothing. Probes (`/-/…`) are never shed.
 */
export function createLoadGauge(maximum = 2_000, maximumDelay = 2): LoadGauge {
  const histogram = monitorEventLoopDelay({ resolution: RESOLUTION_MS });
  histogram.enable();
  let inFlight = 0;
  let closing = false;
  let late = [0, 0];
  let looked = monotonic();
  // A timer of our own: a histogram that is emptied at each look forgets the one delay that a look apart shows.
  const timer = setInterval(() => {
    const at = monotonic();
    late = [...late.slice(1), (at - looked - LOOK_INTERVAL_MS) / 1_000];
    looked = at;
  }, LOOK_INTERVAL_MS);
  timer.unref();
  const lags = () => late.every((each) => each > maximumDelay);
  // The histogram measures its own timer's interval too.
  const beyondTimer = (nanoseconds: number) => Math.max(0, nanoseconds / NANOSECONDS - RESOLUTION_MS / 1_000);
  const unavailable = (text: string, seconds: number) =>
    new Failure('unavailable', `503 Service Unavailable: ${text}`, {
      headers: { 'retry-after': String(seconds), connection: 'close' },
    });
  return {
    enter(route) {
      inFlight += 1;
      if (route.startsWith('/-/')) return undefined;
      if (closing) return unavailable('stopping', 5);
      return inFlight > maximum || lags() ? unavailable('overloaded', 1) : undefined;
    },
    leave() {
      inFlight -= 1;
    },
    close() {
      closing = true;
    },
    closing: () => closing,
    inFlight: () => inFlight,
    delay: () => beyondTimer(histogram.percentile(50)),
    longestDelay: () => {
      const longest = beyondTimer(histogram.max);
      histogram.reset();
      return longest;
    },
    stop() {
      clearInterval(timer);
      histogram.disable();
    },
  };
}
