/** Announces that tokens of projects and groups expire soon: seven days before, and one (facts-merge-requests: 10.5). */
import { sql } from 'kysely';
import { now } from '../../../platform/clock.ts';
import type { Db } from '../../../platform/db/database.ts';
import { insertFacts } from '../../../platform/outbox/outbox.ts';

const DAYS = [1, 7] as const;
const BATCH = 500;

/**
 * Announces each token once for each of these days, in batches of a statement each: after an interruption the next run goes
 * on, and two at once do not meet. What was not running on a day announces later, and one that is late for two announces once.
 */
export async function announceExpiring(db: Db): Promise<void> {
  const time = now();
  const [last, first] = DAYS.map((days) => new Date(time.getTime() + days * 86_400_000));
  const facts = insertFacts(`
    select 'access_token_expiring', jsonb_strip_nulls(jsonb_build_object(
      'project_id', project_id, 'namespace_id', namespace_id, 'token_id', id)), at from announced order by id`);
  for (;;) {
    const { rows } = await sql<{ id: number }>`
      with due as (
        select id, days from access_tokens,
          lateral (select case when expires_at <= ${last} then ${DAYS[0]}::smallint else ${DAYS[1]}::smallint end as days) d
        where kind in ('project', 'group') and revoked_at is null and expires_at > ${time} and expires_at <= ${first}
          and (expiry_announced is null or expiry_announced > days)
        order by id limit ${BATCH} for update of access_tokens skip locked),
      announced as (
        update access_tokens t set expiry_announced = due.days from due where t.id = due.id
        returning t.id, t.project_id, t.namespace_id, ${time}::timestamptz as at),
      facts as (${sql.raw(facts)})
      select id from announced`.execute(db);
    if (rows.length < BATCH) return;
  }
}
