/** What the queue of jobs holds, by task, and what waits and fails of it. */
import { sql } from 'kysely';
import type { Db } from '../db/database.ts';

export type TaskBacklog = { task: string; backlog: number; latency: number };

/** Jobs that are due, by task, and for how many seconds the oldest of them is. */
export async function selectBacklogs(db: Db): Promise<TaskBacklog[]> {
  const { rows } = await sql<TaskBacklog>`
    select task_identifier as task, count(*)::integer as backlog,
      greatest(0, floor(extract(epoch from now() - min(run_at))))::integer as latency
    from graphile_worker.jobs
    where attempts < max_attempts and run_at <= now() and locked_at is null
    group by task_identifier order by task_identifier`.execute(db);
  return rows;
}

/** Jobs that workers of any process are at. */
export async function countBusy(db: Db): Promise<number> {
  const { rows } = await sql<{ busy: number }>`
    select count(*)::integer as busy from graphile_worker.jobs where locked_at is not null`.execute(db);
  return rows[0]?.busy ?? 0;
}
