/** The present time, behind one value so that a test can move it. Nothing else in the program asks the system. */

let offsetMilliseconds = 0;
/** Where it stands still. */
let frozenAt: number | undefined;

/** The present time as the program sees it. */
export const now = (): Date => new Date(frozenAt ?? Date.now() + offsetMilliseconds);

/** Milliseconds that only grow, for measuring durations. */
export const monotonic = (): number => performance.now();

/** Moves the program's time by so many milliseconds, for tests; returns the way back. */
export function moveClock(milliseconds: number): () => void {
  offsetMilliseconds += milliseconds;
  return () => {
    offsetMilliseconds -= milliseconds;
  };
}

/** How the program's time comes from the machine's: ahead by so much, or not at all. */
export type Clock = { offsetMilliseconds: number; frozenAt: Date | undefined };

/** Sets the program's time, for a lab: it goes on from there, or stands still. Without a time, it is the machine's again. */
export function setClock(time?: { now: Date; frozen: boolean }): Clock {
  const isMoving = time !== undefined && !time.frozen;
  offsetMilliseconds = isMoving ? time.now.getTime() - Date.now() : 0;
  frozenAt = time?.frozen ? time.now.getTime() : undefined;
  return { offsetMilliseconds, frozenAt: frozenAt === undefined ? undefined : new Date(frozenAt) };
}
