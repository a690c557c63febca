/** Sends to hooks what waits for them, and writes what came of it. */

import { createSender, type Sender } from '../../../kernel/deliveries/sender.ts';
import { batch } from '../../../platform/batch.ts';
import { now } from '../../../platform/clock.ts';
import type { Db } from '../../../platform/db/database.ts';
import type { HookServices } from '../events/hook-events.ts';
import type { HookRow } from '../management/queries.ts';
import { alertStatus } from '../management/rules.ts';
import { readSecrets } from '../management/secrets.ts';
import {
  dropWaiting,
  type HookHealth,
  healthAfter,
  recordOutcomes,
  type SentDelivery,
  writeHealth,
} from './actions.ts';
import { selectNextDeliveries, waitingHooks } from './queries.ts';
import { isOfInstance, sendToHook } from './send.ts';

/** Deliveries that are read at once for a hook, and their bytes: a single larger one is read alone. */
const READ_AT_ONCE = 25;
const READ_BYTES = 262_144;
/** Bodies of more than that are sent one after the other, whatever their hook. */
const LARGE_BYTES = 1_048_576;
/** So many for one hook; then others have its place. */
const TURN = 200;
/** Outcomes are written together. */
const MAX_OUTCOMES = 100;

export function createHookSender(services: HookServices): Sender {
  const db = services.database.background;
  let large: Promise<unknown> = Promise.resolve();

  const record = batch<Db, SentDelivery, undefined>(MAX_OUTCOMES, async (on, sent) => {
    await recordOutcomes(on, sent);
    return sent.map(() => undefined);
  });

  /** One large body in memory at a time. */
  function inTurn<T>(body: string, work: () => Promise<T>): Promise<T> {
    if (body.length < LARGE_BYTES) return work();
    const turn = large.then(work, work);
    large = turn.catch(() => undefined);
    return turn;
  }

  async function drain(hook: HookRow, ending: AbortSignal, turn: () => Promise<void>): Promise<void> {
    const secrets = readSecrets(services.secretKey, hook);
    let health: HookHealth = hook;
    let last = 0;
    let sent = 0;
    while (!ending.aborted && sent < TURN) {
      const next = await selectNextDeliveries(db, hook.id, {
        after: last,
        most: READ_AT_ONCE,
        bytes: READ_BYTES,
      });
      if (next.length === 0) return;
      const recorded: Promise<unknown>[] = [];
      for (const { id, flag, body, chain, idempotency_key: idempotencyKey } of next) {
        await turn();
        if (ending.aborted) break;
        if (alertStatus(health, now()) !== 'executable') {
          await Promise.all(recorded);
          return dropWaiting(db, hook.id);
        }
        const sending = { flag, body, chain, idempotencyKey };
        const outcome = await inTurn(body, () => sendToHook(services, hook, secrets, sending, ending));
        // What was given up is sent by the next process, under the same key.
        if (ending.aborted && !outcome.received) break;
        last = id;
        sent++;
        recorded.push(record(db, { id, hookId: hook.id, outcome }));
        const after = healthAfter(health, outcome.received, isOfInstance(hook), now());
        const isChanged =
          after.recent_failures !== health.recent_failures || after.disabled_until !== health.disabled_until;
        health = after;
        if (isChanged) await writeHealth(db, hook.id, health);
      }
      // The next ones are read when these are no longer waiting; who finds fewer than it may have looks again after the release.
      await Promise.all(recorded);
      if (next.length < READ_AT_ONCE) return;
    }
  }

  return createSender(services, waitingHooks, drain);
}
