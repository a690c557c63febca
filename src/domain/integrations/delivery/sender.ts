/** Sends to other services what waits for them; one that fails is tried again after a while, with what it did not get. */

import { createSender, type Sender } from '../../../kernel/deliveries/sender.ts';
import { siteMailer } from '../../../kernel/mail/site-mail.ts';
import { now } from '../../../platform/clock.ts';
import { integrations } from '../descriptions/descriptions.ts';
import type { IntegrationRow } from '../management/queries.ts';
import { readProperties } from '../management/secrets.ts';
import { dropWaiting, removeDelivery, writeHealth } from './actions.ts';
import type { IntegrationServices } from './audience.ts';
import { selectNextDeliveries, waitingIntegrations } from './queries.ts';

const READ_AT_ONCE = 25;
/** So many for one integration; then others have its place. */
const TURN = 200;
/** So long after the event it is tried to tell it. */
const MAX_AGE_MS = 15 * 60_000;
const LONGEST_PAUSE_MS = 60_000;

/** How long a service is left alone that failed so many times, one after the other. */
export const pauseAfter = (failures: number): number => Math.min(1_000 * 2 ** failures, LONGEST_PAUSE_MS);

export function createIntegrationSender(services: IntegrationServices): Sender {
  const db = services.database.background;
  const { log } = services;
  const mailer = siteMailer(services);

  async function drain(row: IntegrationRow, ending: AbortSignal, turn: () => Promise<void>): Promise<void> {
    const delivery = integrations.get(row.slug)?.delivery;
    if (!row.active || !delivery) return dropWaiting(db, row.id);
    const outside = { ...services, mailer, ending };
    const properties = readProperties(services.secretKey, row);
    let failures = row.recent_failures;
    for (let sent = 0; sent < TURN; sent += READ_AT_ONCE) {
      const next = await selectNextDeliveries(db, row.id, READ_AT_ONCE);
      for (const { id, key, prepared, fact_at } of next) {
        await turn();
        if (ending.aborted) return;
        try {
          await delivery.send(outside, JSON.parse(prepared), properties, key);
          if (failures > 0) await writeHealth(db, row.id, { recent_failures: 0, paused_until: null });
          failures = 0;
        } catch (error) {
          if (ending.aborted) return;
          failures++;
          const paused_until = new Date(now().getTime() + pauseAfter(failures));
          await writeHealth(db, row.id, { recent_failures: failures, paused_until });
          if (now().getTime() - fact_at.getTime() < MAX_AGE_MS) return;
          log.error('a message to an integration was given up', error, { integration: row.id });
        }
        await removeDelivery(db, id);
        if (failures > 0) return;
      }
      if (next.length < READ_AT_ONCE) return;
    }
  }

  return createSender(services, waitingIntegrations, drain);
}
