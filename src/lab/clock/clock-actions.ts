/**
 * The time of a lab's databases. Statements ask by `now()` and its like; where the clock was moved, those are found in the
 * schema `lab` first, and ask two settings of the database, which each new connection has. What a query plans with them
 * is as before: PostgreSQL puts the body of such a function in its place.
 */
import type { Clock } from '../../platform/clock.ts';
import type { PoolSql, Sql } from '../../platform/db/driver/sql.ts';

const functions = {
  now: 'stable',
  transaction_timestamp: 'stable',
  statement_timestamp: 'stable',
  clock_timestamp: 'volatile',
};

/** For the template. A database whose clock was never moved does not look there. */
export const createClockSchema = (sql: Sql): Promise<unknown> =>
  sql.unsafe(
    [
      'create schema lab',
      ...Object.entries(functions).map(
        ([
          name,
          volatility,
        ]) => `create function lab.${name}() returns timestamptz language sql ${volatility} parallel safe as $$
          select coalesce(nullif(current_setting('lab.frozen_at'), '')::timestamptz,
            pg_catalog.${name}() + current_setting('lab.ahead')::interval) $$`,
      ),
    ].join(';\n'),
  );

/** From the next connection on. A clone of the database does not take it over. */
export const setDatabaseClock = (admin: PoolSql, name: string, clock: Clock): Promise<unknown> => {
  const database = `alter database "${name.replaceAll('"', '""')}"`;
  return admin.unsafe(
    [
      `${database} set search_path = lab, pg_catalog, "$user", public`,
      `${database} set lab.ahead = '${clock.offsetMilliseconds} milliseconds'`,
      `${database} set lab.frozen_at = '${clock.frozenAt?.toISOString() ?? ''}'`,
    ].join(';\n'),
  );
};
