/** Mails wait for requests: nobody looks at the clock for a mail. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Services } from '../../core/services.ts';
import { now } from '../../platform/clock.ts';

/** So many requests under way do not mind: some take as long as a clone does. */
const FEW_REQUESTS = 2;
/** In milliseconds: the longest wait of one job, others' jobs being behind it, and between two looks. */
const MAX_WAIT_MS = 100;
const POLL_INTERVAL_MS = 5;
/** What was announced longer ago than these milliseconds waits no more: under endless load mails leave too. */
const MAX_DELAY_MS = 60_000;

/** Waits for a moment while many requests are answered, unless it is late for what happened `at` this time. */
export async function yieldToRequests({ inFlight }: Pick<Services, 'inFlight'>, at: string): Promise<void> {
  if (now().getTime() - Date.parse(at) > MAX_DELAY_MS) return;
  for (let waited = 0; inFlight() > FEW_REQUESTS && waited < MAX_WAIT_MS; waited += POLL_INTERVAL_MS)
    await sleep(POLL_INTERVAL_MS);
}
