/** Writes what came of deliveries. */
import { sql } from 'kysely';
import { now } from '../../../platform/clock.ts';
import type { Db } from '../../../platform/db/database.ts';
import type { HookRow } from '../management/queries.ts';
import { MAX_FAILURES, pauseAfter } from '../management/rules.ts';
import type { Outcome } from './send.ts';

export type SentDelivery = { id: number; hookId: number; outcome: Outcome };

/** Writes many outcomes by one statement; the ids stand twice, as the table was read whole for those in the JSON alone. */
export async function recordOutcomes(db: Db, sent: readonly SentDelivery[]): Promise<void> {
  const rows = sent.map(({ id, outcome }) => ({
    id,
    url: outcome.url,
    request_headers: outcome.requestHeaders,
    request_body: outcome.requestBody,
    response_headers: outcome.responseHeaders,
    response_body: outcome.responseBody,
    response_status: outcome.status,
    execution_duration: outcome.duration,
  }));
  await sql`
    update hook_deliveries d set sent_at = ${now()}, url = o.url, request_headers = o.request_headers,
      request_body = o.request_body, response_headers = o.response_headers, response_body = o.response_body,
      response_status = o.response_status, execution_duration = o.execution_duration
    from jsonb_to_recordset(${JSON.stringify(rows)}::text::jsonb) as o(id bigint, url text, request_headers jsonb,
      request_body text, response_headers jsonb, response_body text, response_status text,
      execution_duration double precision)
    where d.id = o.id and d.id = any(${rows.map(({ id }) => id)}::bigint[])`.execute(db);
}

/** The failures of a hook one after the other, and until when it is left alone. */
export type HookHealth = Pick<HookRow, 'recent_failures' | 'disabled_until'>;

/** After an outcome; those of the instance are never left alone (facts-merge-requests: 10.3). */
export function healthAfter(
  before: HookHealth,
  received: boolean,
  ofInstance: boolean,
  time: Date,
): HookHealth {
  if (received) return { recent_failures: 0, disabled_until: null };
  if (ofInstance) return before;
  const failures = Math.min(before.recent_failures + 1, MAX_FAILURES);
  const pause = pauseAfter(failures);
  return {
    recent_failures: failures,
    disabled_until: pause === undefined ? before.disabled_until : new Date(time.getTime() + pause),
  };
}

export async function writeHealth(db: Db, hookId: number, health: HookHealth): Promise<void> {
  await db.updateTable('hooks').set(health).where('id', '=', hookId).execute();
}

/** What waits for a hook that is left alone is not sent. */
export async function dropWaiting(db: Db, hookId: number): Promise<void> {
  await db.deleteFrom('hook_deliveries').where('hook_id', '=', hookId).where('sent_at', 'is', null).execute();
}

const REMOVED_AT_ONCE = 5_000;

/** Removes events of before that time with what came of them, in parts. */
export async function removeOldEvents(db: Db, before: Date): Promise<void> {
  for (;;) {
    const { numDeletedRows } = await db
      .deleteFrom('hook_events')
      .where('id', 'in', (eb) =>
        eb
          .selectFrom('hook_events')
          .select('id')
          .where('created_at', '<', before)
          .where(
            sql<boolean>`not exists (select from hook_deliveries d where d.event_id = hook_events.id and d.sent_at is null)`,
          )
          .orderBy('created_at')
          .limit(REMOVED_AT_ONCE),
      )
      .executeTakeFirstOrThrow();
    if (numDeletedRows < REMOVED_AT_ONCE) return;
  }
}

type SentWhat =
  | { event: { flag: string; body: string; chain: string; idempotencyKey: string } }
  | { eventId: number; key: string };

/** Writes what was sent at once, with what came of it. */
export async function insertSent(db: Db, hookId: number, what: SentWhat, outcome: Outcome): Promise<void> {
  const time = now();
  const [event, key] =
    'eventId' in what
      ? [sql`select ${what.eventId}::bigint as id`, what.key]
      : [
          sql`insert into hook_events (chain, flag, body, created_at)
            values (${what.event.chain}::uuid, ${what.event.flag}, ${what.event.body}, ${time}) returning id`,
          what.event.idempotencyKey,
        ];
  await sql`
    with event as (${event})
    insert into hook_deliveries (hook_id, event_id, idempotency_key, sent_at, url, request_headers, request_body,
      response_headers, response_body, response_status, execution_duration)
    select ${hookId}::bigint, event.id, ${key}::uuid, ${time}::timestamptz, ${outcome.url},
      ${JSON.stringify(outcome.requestHeaders)}::text::jsonb, ${outcome.requestBody}::text,
      ${JSON.stringify(outcome.responseHeaders)}::text::jsonb, ${outcome.responseBody}::text, ${outcome.status}::text,
      ${outcome.duration}::double precision
    from event`.execute(db);
}
