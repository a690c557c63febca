/** Mail jobs yield to requests, because a mail is not urgent. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Needs } from '../../../kernel/services.ts';
import { now } from '../../../platform/clock.ts';

/** Requests in flight that delay no mail: some last as long as a clone. */
const FEW_REQUESTS = 2;
/** Milliseconds: the longest wait of one job, since other jobs wait behind it; and between two checks. */
const MAX_WAIT_MS = 100;
const POLL_INTERVAL_MS = 5;
/** Milliseconds after the announcement, beyond which a mail waits no more: it is sent under any load. */
const MAX_DELAY_MS = 60_000;

/** Waits while many requests are in flight, unless `at`, the time of the announcement, is long ago. */
export async function yieldToRequests({ inFlight }: Needs<'inFlight'>, at: string): Promise<void> {
  if (now().getTime() - Date.parse(at) > MAX_DELAY_MS) return;
  for (let waited = 0; inFlight() > FEW_REQUESTS && waited < MAX_WAIT_MS; waited += POLL_INTERVAL_MS)
    await sleep(POLL_INTERVAL_MS);
}
