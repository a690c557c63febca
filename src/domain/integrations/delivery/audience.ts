/** Integrations are told of the events of hooks: what each has to be sent becomes a job. */
import { siteMailer } from '../../../kernel/mail/site-mail.ts';
import { monotonic, now } from '../../../platform/clock.ts';
import type { Json } from '../../../platform/db/rows.ts';
import { addJobs, type Task, type Tasks } from '../../../platform/jobs/jobs.ts';
import { OutboundFailure } from '../../../platform/outbound/outbound.ts';
import { type HookAudience, type HookServices, type ListenedFlags, wantsEvent } from '../../hooks/index.ts';
import { integrations } from '../descriptions/descriptions.ts';
import { hookFlagsOf } from '../kinds/description.ts';
import { readProperties } from '../management/secrets.ts';
import { selectActive, selectWanting } from './queries.ts';

export type IntegrationServices = HookServices;

const DELIVER = 'integrations.deliver';
/** So long a service that did not answer in time is left alone: what else waits is not held up by it again and again. */
const PAUSE_MS = 60_000;
/** So long after the event it is tried to tell it; the waits between grow. */
const MAX_AGE_MS = 15 * 60_000;

type Delivered = { id: string; integration_id: number; prepared: Json; fact_at: string };

export const integrationAudience = (services: IntegrationServices, flags: ListenedFlags): HookAudience => ({
  listened: flags.read,
  async find(place, kinds) {
    const db = services.database.background;
    const told = await selectWanting(db, place, kinds);
    if (told.length === 0) return undefined;
    return async (events, { fact_id, fact_at }) => {
      const jobs = told.flatMap((row) => {
        const delivery = integrations.get(row.slug)?.delivery;
        if (!delivery) return [];
        const properties = readProperties(services.secretKey, row);
        const prepared = events
          .filter((event) => wantsEvent(hookFlagsOf(row.events), event))
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
  /** Until when services are left alone by this process, by integration. */
  const pauses = new Map<number, number>();
  const deliver: Task = async (payload) => {
    // Written by the audience only.
    const { id, integration_id, prepared, fact_at } = payload as Delivered;
    const row = await selectActive(services.database.background, integration_id);
    const delivery = integrations.get(row?.slug ?? '')?.delivery;
    if (!row || !delivery) return;
    try {
      if ((pauses.get(row.id) ?? 0) > monotonic()) throw new Error('the service is left alone for a while');
      pauses.delete(row.id);
      await delivery.send(outside, prepared, readProperties(services.secretKey, row), id);
    } catch (error) {
      if (error instanceof OutboundFailure && error.reason === 'timeout')
        pauses.set(row.id, monotonic() + PAUSE_MS);
      if (now().getTime() - Date.parse(fact_at) < MAX_AGE_MS) throw error;
      services.log.error('a message to an integration was given up', error, { integration: row.id });
    }
  };
  return { [DELIVER]: deliver };
}
