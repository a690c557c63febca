/** The present time, behind one value so that a test can move it. Nothing else in the program asks the system. */

let offsetMilliseconds = 0;

/** The present time as the program sees it. */
export const now = (): Date => new Date(Date.now() + offsetMilliseconds);

/** Milliseconds that only grow, for measuring durations. */
export const monotonic = (): number => performance.now();

/** Moves the program's time by so many milliseconds, for tests; returns the way back. */
export function moveClock(milliseconds: number): () => void {
  offsetMilliseconds += milliseconds;
  return () => {
    offsetMilliseconds -= milliseconds;
  };
}
