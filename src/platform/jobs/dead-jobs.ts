/** Jobs that failed until their attempts were used up: they stay where they are until somebody looks. */
import { sql } from 'kysely';
import type { Db } from '../db/database.ts';

export type DeadJob = {
  id: number;
  task: string;
  payload: Record<string, unknown>;
  attempts: number;
  error: string;
  created_at: Date;
  failed_at: Date;
};

/** Whoever replaces a job while it runs leaves it without an attempt too, but not with an error. */
const isDead = sql<boolean>`(j.attempts >= j.max_attempts and j.locked_at is null and j.last_error is not null)`;

// The library's view of its jobs leaves the payload out.
const tables = sql`graphile_worker._private_jobs j join graphile_worker._private_tasks t on t.id = j.task_id`;

/** The tasks; undefined for all. */
type Tasks = readonly string[] | undefined;

const ofTasks = (tasks: Tasks) =>
  tasks === undefined ? sql`true` : sql`t.identifier = any(${[...tasks]}::text[])`;

/** The dead jobs of these tasks that are older than `before`, the latest first. */
export async function deadJobs(
  db: Db,
  tasks: Tasks,
  { before, limit }: { before: number | undefined; limit: number },
): Promise<DeadJob[]> {
  const { rows } = await sql<DeadJob>`
    select j.id, t.identifier as task, j.payload, j.attempts, j.last_error as error, j.created_at, j.updated_at as failed_at
    from ${tables} where ${isDead} and ${ofTasks(tasks)} and (${before ?? null}::bigint is null or j.id < ${before ?? null})
    order by j.id desc limit ${limit}`.execute(db);
  return rows;
}

/** Gives dead jobs of these tasks all their attempts again, one or all of them; returns how many there were. */
export async function reviveJobs(db: Db, tasks: Tasks, id?: number): Promise<number> {
  const { rows } = await sql<{ id: number }>`
    select r.id from graphile_worker.reschedule_jobs((
      select coalesce(array_agg(j.id), '{}') from ${tables}
      where ${isDead} and ${ofTasks(tasks)} and (${id ?? null}::bigint is null or j.id = ${id ?? null})),
      run_at => now(), attempts => 0) r`.execute(db);
  return rows.length;
}
