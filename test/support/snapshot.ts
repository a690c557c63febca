/** The whole database in a few lines, to see whether anything changed. */
import type { TestApp } from './app.ts';

/** A digest of every table's rows, but for the marks of use and the counters. */
export async function everything(app: TestApp): Promise<Record<string, string>> {
  const { sql } = app.app.services.database;
  const tables = await sql<{ name: string }[]>`
    select table_name as name from information_schema.tables where table_schema = 'public' order by 1`;
  const digests: Record<string, string> = {};
  for (const { name } of tables) {
    // Windows of limits, and heartbeats.
    if (name === 'rate_limit_windows' || name === 'processes') continue;
    const [found] = await sql.unsafe<{ digest: string }[]>(
      `select count(*) || ' ' || coalesce(md5(string_agg(r, ',' order by r)), '') as digest
       from (select (to_jsonb(t) - 'last_used_at' - 'last_activity_on')::text as r from "${name}" t) x`,
    );
    digests[name] = found?.digest ?? '';
  }
  return digests;
}
