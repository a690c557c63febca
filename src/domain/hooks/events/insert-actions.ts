/** Writes what hooks are to be told. */
import { sql } from 'kysely';
import type { Db } from '../../../platform/db/database.ts';
import { randomId } from '../../../platform/secret.ts';

export type NewHookEvent = {
  fact_id: number | null;
  place: number;
  chain: string;
  flag: string;
  body: string;
  created_at: Date;
  /** Ids of the hooks that are told. */
  hooks: readonly number[];
};

/** One statement for each event; what was written before, by a job that ran twice, is not written again. */
export async function insertDeliveries(db: Db, events: readonly NewHookEvent[]): Promise<void> {
  for (const { fact_id, place, chain, flag, body, created_at, hooks } of events)
    await sql`
      with event as (
        insert into hook_events (fact_id, place, chain, flag, body, created_at)
        values (${fact_id}, ${place}, ${chain}::uuid, ${flag}, ${body}, ${created_at})
        on conflict (fact_id, place) do nothing returning id
      )
      insert into hook_deliveries (hook_id, event_id, idempotency_key)
      select told.hook_id, event.id, told.key
      from event, unnest(${[...hooks]}::bigint[], ${hooks.map(() => randomId())}::uuid[]) as told(hook_id, key)
      join hooks on hooks.id = told.hook_id order by told.hook_id`.execute(db);
}
