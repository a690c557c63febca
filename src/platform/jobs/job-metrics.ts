/** How much waits for the workers, and which processes work. */
import { sql } from 'kysely';
import type { Db } from '../db/database.ts';
import { DEAD_AFTER_SECONDS } from '../db/processes.ts';

/** By the first word of their tasks: jobs that could run now, and seconds for which the oldest of them waits. */
export type QueueMetrics = Readonly<Record<string, { backlog: number; latency: number }>>;

export async function queueMetrics(db: Db): Promise<QueueMetrics> {
  const { rows } = await sql<{ queue: string; backlog: number; latency: number }>`
    select split_part(t.identifier, '.', 1) as queue, count(j.id) as backlog,
      coalesce(floor(extract(epoch from clock_timestamp() - min(j.run_at))), 0)::integer as latency
    from graphile_worker._private_tasks t left join graphile_worker._private_jobs j
      on j.task_id = t.id and j.locked_at is null and j.attempts < j.max_attempts and j.run_at <= clock_timestamp()
    group by 1 order by 1`.execute(db);
  return Object.fromEntries(rows.map(({ queue, backlog, latency }) => [queue, { backlog, latency }]));
}

export type WorkingProcess = { id: string; host: string; pid: number; started_at: Date; busy: number };

/** The processes that are alive, the oldest first, and how many jobs each is at. */
export async function workingProcesses(db: Db): Promise<WorkingProcess[]> {
  const { rows } = await sql<WorkingProcess>`
    select p.id, p.host, p.pid, p.started_at, (
      select count(*) from graphile_worker._private_jobs j where j.locked_by = 'process ' || p.id) as busy
    from processes p where p.beat_at > clock_timestamp() - make_interval(secs => ${DEAD_AFTER_SECONDS})
    order by p.started_at, p.id`.execute(db);
  return rows;
}
