/**
 * Deletes rows that no request can use any more: expired tokens, codes that were never redeemed, ended
 * grants.
 */
import { type RawBuilder, sql } from 'kysely';
import type { Needs } from '../../../kernel/services.ts';
import { now } from '../../../platform/clock.ts';
import type { Db } from '../../../platform/db/database.ts';

const DAY_MS = 86_400_000;
const BATCH = 1_000;

/**
 * Rows that are deleted, and after how many days: expired tokens are told apart from unknown ones for a week;
 * a used refresh token is kept for a quarter, so that its replay ends the grant; a grant that was not renewed
 * goes after a year.
 */
const sweeps: { days: number; table: string; which(before: Date): RawBuilder<unknown> }[] = [
  { days: 7, table: 'access_tokens', which: (before) => sql`kind = 'oauth' and expires_at < ${before}` },
  {
    days: 1,
    table: 'oauth_grants',
    which: (before) => sql`code_expires_at < ${before} and code_used_at is null`,
  },
  { days: 30, table: 'oauth_grants', which: (before) => sql`revoked_at < ${before}` },
  {
    days: 8,
    table: 'oauth_grants',
    which: (before) => sql`kind = 'client_credentials' and created_at < ${before}`,
  },
  {
    days: 365,
    table: 'oauth_grants',
    which: (before) =>
      sql`id in (select grant_id from oauth_refresh_tokens where used_at is null and created_at < ${before})`,
  },
  { days: 90, table: 'oauth_refresh_tokens', which: (before) => sql`used_at < ${before}` },
];

/** Deletes in batches, so that no request waits for it. */
export async function sweepGrants(db: Db, time: Date): Promise<void> {
  for (const { days, table, which } of sweeps) {
    const gone = which(new Date(time.getTime() - days * DAY_MS));
    const rows = sql.table(table);
    for (;;) {
      const deleted = await sql`
        delete from ${rows} where id in (select id from ${rows} where ${gone} limit ${BATCH}) returning id`.execute(
        db,
      );
      if (deleted.rows.length < BATCH) break;
    }
  }
}

export const sweepTask = (services: Needs<'database'>) => async (): Promise<void> => {
  await sweepGrants(services.database.background, now());
};
