/** Letters wait for requests: nobody looks at the clock for a letter. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Services } from '../../core/services.ts';
import { now } from '../../platform/clock.ts';

/** So many requests under way do not mind: some take as long as a clone does. */
const FEW = 2;
/** In milliseconds: the longest wait of one job, others' jobs being behind it, and between two looks. */
const LONGEST_WAIT = 100;
const LOOK_AGAIN = 5;
/** What was announced longer ago than these milliseconds waits no more: under endless load letters leave too. */
const PATIENCE = 60_000;

/** Waits for a moment while many requests are answered, unless it is late for what happened `at` this time. */
export async function makeRoom({ inFlight }: Pick<Services, 'inFlight'>, at: string): Promise<void> {
  if (now().getTime() - Date.parse(at) > PATIENCE) return;
  for (let waited = 0; inFlight() > FEW && waited < LONGEST_WAIT; waited += LOOK_AGAIN)
    await sleep(LOOK_AGAIN);
}
