/** Integrations are told of the events of hooks: what each has to be sent waits for its sender. */
import { type HookAudience, type HookServices, type ListenedFlags, wantsEvent } from '../../hooks/index.ts';
import { integrations } from '../descriptions/descriptions.ts';
import { hookFlagsOf } from '../kinds/description.ts';
import { readProperties } from '../management/secrets.ts';
import { insertDeliveries, type NewDelivery } from './actions.ts';
import { selectWanting } from './queries.ts';

export type IntegrationServices = HookServices;

export const integrationAudience = (
  services: IntegrationServices,
  flags: ListenedFlags,
  wake: () => void,
): HookAudience => ({
  listened: flags.read,
  async find(place, kinds) {
    const db = services.database.background;
    const told = await selectWanting(db, place, kinds);
    if (told.length === 0) return undefined;
    return async (events, fact) => {
      const deliveries: NewDelivery[] = [];
      for (const row of told) {
        const delivery = integrations.get(row.slug)?.delivery;
        // What happened before it was made is none of its business.
        if (!delivery || row.created_at > new Date(fact.fact_at)) continue;
        const properties = readProperties(services.secretKey, row);
        const wanted = events.filter((event) => wantsEvent(hookFlagsOf(row.events), event));
        const prepared = await Promise.all(wanted.map((event) => delivery.prepare(event, properties)));
        deliveries.push(
          ...prepared
            .flat()
            .map((each, place) => ({ integration_id: row.id, place, prepared: JSON.stringify(each) })),
        );
      }
      if (deliveries.length === 0) return;
      await insertDeliveries(db, fact, deliveries);
      wake();
    };
  },
});
