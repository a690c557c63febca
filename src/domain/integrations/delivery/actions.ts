/** Writes what integrations have to send, and what came of it. */
import { sql } from 'kysely';
import type { Db } from '../../../platform/db/database.ts';
import type { IntegrationRow } from '../management/queries.ts';

/** Deliveries that may wait for one integration: a service that takes less than happens misses messages, and does not fill the disk. */
const MAX_WAITING = 2_000;

/** `prepared` is JSON, `place` which of the integration's messages of the fact it is. */
export type NewDelivery = { integration_id: number; place: number; prepared: string };

/** What was written before, by a job that ran twice, and still waits is not written again. */
export async function insertDeliveries(
  db: Db,
  { fact_id, fact_at }: { fact_id: number; fact_at: string },
  deliveries: readonly NewDelivery[],
): Promise<void> {
  await sql`
    insert into integration_deliveries (integration_id, fact_id, place, prepared, fact_at)
    select n.integration_id, ${fact_id}::bigint, n.place, n.prepared, ${fact_at}::timestamptz
    from unnest(${deliveries.map((each) => each.integration_id)}::bigint[],
      ${deliveries.map(({ place }) => place)}::integer[],
      ${deliveries.map(({ prepared }) => prepared)}::text[]) as n(integration_id, place, prepared)
    join integrations i on i.id = n.integration_id
    where not exists (select from integration_deliveries d where d.integration_id = n.integration_id
      order by d.id offset ${MAX_WAITING - 1} limit 1)
    order by n.integration_id, n.place
    on conflict (integration_id, fact_id, place) do nothing`.execute(db);
}

export async function removeDelivery(db: Db, id: number): Promise<void> {
  await db.deleteFrom('integration_deliveries').where('id', '=', id).execute();
}

/** What waits for an integration that is off is not sent. */
export async function dropWaiting(db: Db, integrationId: number): Promise<void> {
  await db.deleteFrom('integration_deliveries').where('integration_id', '=', integrationId).execute();
}

export async function writeHealth(
  db: Db,
  integrationId: number,
  health: Pick<IntegrationRow, 'recent_failures' | 'paused_until'>,
): Promise<void> {
  await db.updateTable('integrations').set(health).where('id', '=', integrationId).execute();
}
