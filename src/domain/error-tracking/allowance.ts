/** How many events of an error are kept whole: what comes by the thousand is all alike, and its first say what there is to say. */
import { monotonic } from '../../platform/clock.ts';

/** Of each error; so that a flood of one costs the others nothing. */
const WHOLE_IN_A_MINUTE = 60;
const MINUTE = 60_000;

/** Whether one more event of the error may be kept whole in this minute; it is counted. */
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
