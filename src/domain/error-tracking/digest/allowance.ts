/**
 * The number of events of an error that are kept whole: thousands of them are alike, so the first suffice.
 */
import { monotonic } from '../../../platform/clock.ts';

/** Counted for each error, so that a flood of one costs the others nothing. */
const WHOLE_IN_A_MINUTE = 60;
const MINUTE = 60_000;

/** Whether one more event of the error may be kept whole in this minute; counts the event. */
export type Allowance = (error: string) => boolean;

export function createAllowance(most = WHOLE_IN_A_MINUTE): Allowance {
  const whole = new Map<string, number>();
  let end = 0;
  return (error) => {
    if (monotonic() >= end) {
      whole.clear();
      end = monotonic() + MINUTE;
    }
    const count = whole.get(error) ?? 0;
    if (count >= most) return false;
    whole.set(error, count + 1);
    return true;
  };
}
