/** Sheds load early: beyond a bound of requests in flight, or when the event loop lags, 503 at once beats a slow answer. */
import { monitorEventLoopDelay } from 'node:perf_hooks';
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
  /** Recent delay of the event loop, in seconds. */
  delay(): number;
  /** The longest delay since this was asked last, in seconds. */
  longestDelay(): number;
  stop(): void;
};

const NANOSECONDS = 1e9;
/** In milliseconds. */
const RESOLUTION = 20;

/** `maximum` requests in flight; `maximumDelay` in seconds. Probes (`/-/…`) are never shed. */
export function createLoadGauge(maximum = 2_000, maximumDelay = 2): LoadGauge {
  const histogram = monitorEventLoopDelay({ resolution: RESOLUTION });
  histogram.enable();
  let inFlight = 0;
  let closing = false;
  let delay = 0;
  let longest = 0;
  // The histogram measures its own timer's interval too.
  const beyondTimer = (nanoseconds: number) => Math.max(0, nanoseconds / NANOSECONDS - RESOLUTION / 1_000);
  const timer = setInterval(() => {
    delay = beyondTimer(histogram.percentile(50));
    longest = Math.max(longest, beyondTimer(histogram.max));
    histogram.reset();
  }, 500);
  timer.unref();
  const unavailable = (text: string, seconds: number) =>
    new Failure('unavailable', `503 Service Unavailable: ${text}`, {
      headers: { 'retry-after': String(seconds), connection: 'close' },
    });
  return {
    enter(route) {
      inFlight += 1;
      if (route.startsWith('/-/')) return undefined;
      if (closing) return unavailable('stopping', 5);
      return inFlight > maximum || delay > maximumDelay ? unavailable('overloaded', 1) : undefined;
    },
    leave() {
      inFlight -= 1;
    },
    close() {
      closing = true;
    },
    closing: () => closing,
    inFlight: () => inFlight,
    delay: () => delay,
    longestDelay: () => {
      const told = longest;
      longest = 0;
      return told;
    },
    stop() {
      clearInterval(timer);
      histogram.disable();
    },
  };
}
