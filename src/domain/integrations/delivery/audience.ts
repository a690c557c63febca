/** Integrations are told of the events of hooks: what each has to be sent becomes a job. */
import { siteMailer } from '../../../kernel/mail/site-mail.ts';
import { now } from '../../../platform/clock.ts';
import type { Json } from '../../../platform/db/rows.ts';
import { addJobs, type Task, type Tasks } from '../../../platform/jobs/jobs.ts';
import { type HookAudience, type HookServices, isTold, type ListenedFlags } from '../../hooks/index.ts';
import { hookFlagsOf } from '../descriptions/description.ts';
import { integrations } from '../descriptions/descriptions.ts';
import { readProperties } from '../management/secrets.ts';
import { selectActive, selectTold } from './queries.ts';

export type IntegrationServices = HookServices;

const DELIVER = 'integrations.deliver';
/** So long after the event it is tried to tell it; the waits between grow. */
const MAX_AGE_MS = 15 * 60_000;

type Delivered = { id: string; integration_id: number; prepared: Json; fact_at: string };

export const integrationAudience = (services: IntegrationServices, flags: ListenedFlags): HookAudience => ({
  listened: flags.read,
  async find(place, kinds) {
    const db = services.database.background;
    const told = await selectTold(db, place, kinds);
    if (told.length === 0) return undefined;
    return async (events, { fact_id, fact_at }) => {
      const jobs = told.flatMap((row) => {
        const delivery = integrations.get(row.slug)?.delivery;
        if (!delivery) return [];
        const properties = readProperties(services.secretKey, row);
        const prepared = events
          .filter((event) => isTold(hookFlagsOf(row.events), event))
          .flatMap((event) => delivery.prepare(event, properties));
        return prepared.map((each, order) => {
          const id = `integration-${row.id}-${fact_id}-${order}`;
          return {
            task: DELIVER,
            payload: { id, integration_id: row.id, prepared: each, fact_at } satisfies Delivered,
            // One at a time: a service that hangs holds one worker, not all.
            queue: 'integrations',
            key: id,
          };
        });
      });
      await addJobs(db, jobs);
    };
  },
});

export function integrationTasks(services: IntegrationServices): Tasks {
  const outside = { ...services, mailer: siteMailer(services) };
  const deliver: Task = async (payload) => {
    // Written by the audience only.
    const { id, integration_id, prepared, fact_at } = payload as Delivered;
    const row = await selectActive(services.database.background, integration_id);
    const delivery = integrations.get(row?.slug ?? '')?.delivery;
    if (!row || !delivery) return;
    try {
      await delivery.send(outside, prepared, readProperties(services.secretKey, row), id);
    } catch (error) {
      if (now().getTime() - Date.parse(fact_at) < MAX_AGE_MS) throw error;
      services.log.error('a message to an integration was given up', error, { integration: row.id });
    }
  };
  return { [DELIVER]: deliver };
}
