/** Writes what hooks are to be told. */
import { sql } from 'kysely';
import { now } from '../../../platform/clock.ts';
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

/**
 * Deliveries that may wait for a hook, once the oldest waits so long: a receiver that answers, but more slowly than things happen,
 * misses events, and does not fill the disk.
 */
export const MAX_WAITING = 10_000;
const WAITS_LONG = '5 minutes';

/**
 * One statement for each event; what was written before, by a job that ran twice, is not written again. A hook for which too much
 * waits is not told.
 */
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
      join hooks on hooks.id = told.hook_id
      where not (
        coalesce((select e.created_at < ${now()}::timestamptz - ${sql.lit(WAITS_LONG)}::interval from hook_deliveries d
          join hook_events e on e.id = d.event_id
          where d.hook_id = told.hook_id and d.sent_at is null order by d.id limit 1), false)
        and exists (select from hook_deliveries d where d.hook_id = told.hook_id and d.sent_at is null
          order by d.id offset ${MAX_WAITING - 1} limit 1))
      order by told.hook_id`.execute(db);
}
