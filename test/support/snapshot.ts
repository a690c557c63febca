/** The whole database in a few lines, to see whether anything changed. */
import type { TestApp } from './app.ts';
import { until } from './waiting.ts';

/** How much of what was asked for before is still under way: facts, jobs that are due, what hooks and integrations are sent. */
export async function countUnderWay({ app }: Pick<TestApp, 'app'>): Promise<number> {
  const [row] = await app.services.database.sql<{ count: number }[]>`
    select (select count(*) from outbox)::integer
      + (select count(*) from hook_deliveries where sent_at is null)::integer
      + (select count(*) from integration_deliveries d join integrations i on i.id = d.integration_id
        where i.paused_until is null or i.paused_until <= now())::integer
      + (select count(*) from hooks where sender is not null)::integer
      + (select count(*) from integrations where sender is not null)::integer
      + (select count(*) from graphile_worker.jobs where run_at <= now() or locked_at is not null)::integer as count`;
  return row?.count ?? 0;
}

/** Waits until nothing that was asked for before is under way. */
export const untilQuiet = (site: TestApp): Promise<void> =>
  until(async () => {
    site.app.services.wake();
    return (await countUnderWay(site)) === 0;
  }, 'facts, jobs or deliveries stay after a minute');

/** A digest of every table's rows when all is quiet, but for the marks of use and the counters. */
export async function everything(app: TestApp): Promise<Record<string, string>> {
  await untilQuiet(app);
  const { sql } = app.app.services.database;
  const tables = await sql<{ name: string }[]>`
    select table_name as name from information_schema.tables where table_schema = 'public' order by 1`;
  const digests: Record<string, string> = {};
  for (const { name } of tables) {
    // Windows of limits, and heartbeats.
    if (name === 'rate_limit_windows' || name === 'processes') continue;
    const [found] = await sql.unsafe<{ digest: string }[]>(
      `select count(*) || ' ' || coalesce(md5(string_agg(r, ',' order by r)), '') as digest
       from (select (to_jsonb(t) - 'last_used_at' - 'last_activity_on' - 'last_downloaded_at')::text as r from "${name}" t) x`,
    );
    digests[name] = found?.digest ?? '';
  }
  return digests;
}
