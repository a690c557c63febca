import type { Sql } from '../../platform/db/driver/sql.ts';

/** Facts and jobs that are due or being done. */
export async function countDue(sql: Sql): Promise<number> {
  const [row] = await sql<{ due: number }[]>`
    select (select count(*) from outbox) + (select count(*) from graphile_worker._private_jobs
      where locked_at is not null or run_at <= clock_timestamp() and attempts < max_attempts) as due`;
  return Number(row?.due ?? 0);
}
