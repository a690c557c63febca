/** Reads which integrations are told of an event, and what waits for them. */
import { sql } from 'kysely';
import type { Receivers } from '../../../kernel/deliveries/queries.ts';
import type { Db } from '../../../platform/db/database.ts';
import type { EventPlace } from '../../hooks/index.ts';
import { flagsFor } from '../kinds/description.ts';
import { type IntegrationRow, nearest } from '../management/queries.ts';

/** The active integrations of the place with one of these flags of hooks: its own, and where it has none those of the nearest group. */
export async function selectWanting(
  db: Db,
  { projectId, namespaceId }: EventPlace,
  flags: readonly string[],
): Promise<IntegrationRow[]> {
  const { rows } = await sql<IntegrationRow>`
    with around as (
      select n.ancestor_ids || n.id as ids from namespaces n
      where n.id = coalesce((select namespace_id from projects where id = ${projectId ?? null}::bigint), ${namespaceId ?? null}::bigint)
    )
    select * from (${nearest(projectId ?? null, sql`(select ids from around)::bigint[]`)}) as near
    where active and events && ${flagsFor(flags)}::text[] order by id`.execute(db);
  return rows;
}

export const waitingIntegrations: Receivers = {
  receivers: 'integrations',
  deliveries: 'integration_deliveries',
  key: 'integration_id',
  isReady: (time) => sql`(r.paused_until is null or r.paused_until <= ${time})`,
};

/** The next deliveries of an integration, in order; the key names each however often it is tried. */
export async function selectNextDeliveries(db: Db, integrationId: number, most: number) {
  const rows = await db
    .selectFrom('integration_deliveries')
    .selectAll()
    .where('integration_id', '=', integrationId)
    .orderBy('id')
    .limit(most)
    .execute();
  return rows.map((row) => ({ ...row, key: `integration-${integrationId}-${row.fact_id}-${row.place}` }));
}
