/**
 * Sheds load: beyond a number of requests in flight, or while the event loop lags, a 503 at once beats a slow
 * response.
 */
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { monotonic } from '../../clock.ts';
import { Failure } from '../../failure.ts';

export type LoadGauge = {
  /**
   * Counts a request in; returns the failure when it should be shed. Every call is followed by one leave().
   */
  enter(isProbe: boolean): Failure | undefined;
  leave(): void;
  /** Runs what a request in flight only waits for: it does not count meanwhile. The signal says that the program stops. */
  park<T>(wait: (stopping: AbortSignal) => Promise<T>): Promise<T>;
  /** From now on all new requests are refused. */
  close(): void;
  /** Whether close() was called: connections must then not be kept alive. */
  closing(): boolean;
  inFlight(): number;
  /** Median delay of the event loop since the last call of longestDelay(), in seconds. */
  delay(): number;
  /** The longest delay since the last call, in seconds. */
  longestDelay(): number;
  stop(): void;
};

const NANOSECONDS = 1e9;
/** In milliseconds. */
const RESOLUTION_MS = 20;
/** Milliseconds between two checks of the event loop. */
const LOOK_INTERVAL_MS = 500;

/**
 * `maximum` requests in flight; `maximumDelay` in seconds, which the event loop must exceed twice in a row: a
 * single pause is over when it is seen, so shedding would not help. Probes are never shed.
 */
export function createLoadGauge(maximum = 2_000, maximumDelay = 2): LoadGauge {
  const histogram = monitorEventLoopDelay({ resolution: RESOLUTION_MS });
  histogram.enable();
  let inFlight = 0;
  const stopping = new AbortController();
  let late = [0, 0];
  let looked = monotonic();
  // An own timer: the histogram is reset at each check and would miss a delay that spans it.
  const timer = setInterval(() => {
    const at = monotonic();
    late = [...late.slice(1), (at - looked - LOOK_INTERVAL_MS) / 1_000];
    looked = at;
  }, LOOK_INTERVAL_MS);
  timer.unref();
  const lags = () => late.every((each) => each > maximumDelay);
  // The histogram includes its own timer's interval.
  const beyondTimer = (nanoseconds: number) => Math.max(0, nanoseconds / NANOSECONDS - RESOLUTION_MS / 1_000);
  const unavailable = (text: string, seconds: number) =>
    new Failure('unavailable', `503 Service Unavailable: ${text}`, {
      headers: { 'retry-after': String(seconds), connection: 'close' },
    });
  return {
    enter(isProbe) {
      inFlight += 1;
      if (isProbe) return undefined;
      if (stopping.signal.aborted) return unavailable('stopping', 5);
      return inFlight > maximum || lags() ? unavailable('overloaded', 1) : undefined;
    },
    leave() {
      inFlight -= 1;
    },
    async park(wait) {
      inFlight -= 1;
      try {
        return await wait(stopping.signal);
      } finally {
        inFlight += 1;
      }
    },
    close: () => stopping.abort(),
    closing: () => stopping.signal.aborted,
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
