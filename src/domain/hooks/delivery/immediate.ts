/** Requests to hooks that their maker waits for: tests, and what is sent again. */
import { now } from '../../../platform/clock.ts';
import { randomId } from '../../../platform/secret.ts';
import type { HookEvent, HookServices } from '../events/hook-events.ts';
import type { HookRow } from '../management/queries.ts';
import { alertStatus, unprocessable } from '../management/rules.ts';
import { readSecrets } from '../management/secrets.ts';
import { insertSent, writeHealth } from './actions.ts';
import type { WaitingDelivery } from './queries.ts';
import { type Outcome, sendToHook } from './send.ts';

/** A success brings a hook back that was left alone. */
async function restore({ database }: HookServices, hook: HookRow, outcome: Outcome): Promise<void> {
  if (outcome.received && alertStatus(hook, now()) !== 'executable')
    await writeHealth(database.db, hook.id, { recent_failures: 0, disabled_until: null });
}

const failed = ({ responseBody, status }: Outcome) =>
  unprocessable(`The hook was not received: ${responseBody.slice(0, 200) || status}`);

/** Sends the event; 422 where there is none to be sent, or where it is not received. */
export async function sendTest(
  services: HookServices,
  hook: HookRow,
  event: HookEvent | { missing: string },
): Promise<void> {
  if ('missing' in event) throw unprocessable(event.missing);
  const sending = {
    flag: event.flag,
    body: JSON.stringify(event.body),
    chain: randomId(),
    idempotencyKey: randomId(),
  };
  const outcome = await sendToHook(services, hook, readSecrets(services.secretKey, hook), sending);
  await insertSent(services.database.db, hook.id, { event: sending }, outcome);
  await restore(services, hook, outcome);
  if (!outcome.received) throw failed(outcome);
}

/** Sends again what was sent, and returns the status of the response; 422 where it is not received. */
export async function sendAgain(
  services: HookServices,
  hook: HookRow,
  { event_id, flag, body, chain, idempotency_key }: WaitingDelivery & { event_id: number },
): Promise<number> {
  const sending = { flag, body, chain, idempotencyKey: idempotency_key };
  const outcome = await sendToHook(services, hook, readSecrets(services.secretKey, hook), sending);
  await insertSent(services.database.db, hook.id, { eventId: event_id, key: idempotency_key }, outcome);
  await restore(services, hook, outcome);
  if (!outcome.received) throw failed(outcome);
  return Number(outcome.status);
}
