/** Reproducible races: another transaction comes first, and the request that runs into it waits for its end. */
import { setTimeout as sleep } from 'node:timers/promises';
import { connect } from '../../src/platform/db/database.ts';
import type { Sql } from '../../src/platform/db/driver/sql.ts';
import type { TestApp } from './app.ts';

/**
 * Makes the change in a transaction that stays open until `request` waits for one of its locks, does `last`,
 * and commits then; also when the request ended without waiting. Returns the response.
 */
export async function overtake<T>(
  app: TestApp,
  change: (tx: Sql) => Promise<unknown>,
  request: () => Promise<T>,
  last: (tx: Sql) => Promise<unknown> = async () => {},
): Promise<T> {
  const { target } = app.app.services.database;
  const sql = connect(target, { max: 2, statementTimeout: 0, name: 'races' });
  try {
    let answered = false;
    let response: Promise<T> | undefined;
    await sql.begin(async (tx) => {
      await change(tx);
      const [own] = await tx<{ pid: number }[]>`select pg_backend_pid() as pid`;
      response = request().finally(() => {
        answered = true;
      });
      // The caller sees its failure, after the commit.
      response.catch(() => undefined);
      const isWaitedFor = async () => {
        const [row] = await sql<{ waits: boolean }[]>`
          select exists (select from pg_stat_activity
            where ${own?.pid ?? 0} = any(pg_blocking_pids(pid))) as waits`;
        return row?.waits ?? false;
      };
      while (!answered && !(await isWaitedFor())) await sleep(5);
      await last(tx);
    });
    if (!response) throw new Error('the request was never made');
    return await response;
  } finally {
    await sql.end();
  }
}
