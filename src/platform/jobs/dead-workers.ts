/**
 * What the workers of a process held when it died. The library would keep it for four hours, and with a queue all the jobs
 * that wait in it; but a process is known by its heartbeat, and its workers by its name.
 */
import { sql } from 'kysely';
import type { Db } from '../db/database.ts';
import { REMOVED_AFTER_SECONDS } from '../db/processes.ts';

/** The name under which the workers of a process hold jobs. */
export const workersOf = (processId: string): string => `process ${processId}`;

/** Frees the jobs and queues that nobody alive holds; the jobs run again. */
export async function releaseDead(db: Db): Promise<void> {
  await sql`
    select graphile_worker.force_unlock_workers(array_agg(held.locked_by)) from (
      select locked_by from graphile_worker._private_jobs where locked_by is not null
      union select locked_by from graphile_worker._private_job_queues where locked_by is not null) held
    where not exists (
      select from processes p where held.locked_by = 'process ' || p.id
        and p.beat_at > clock_timestamp() - make_interval(secs => ${REMOVED_AFTER_SECONDS}))
    having count(*) > 0`.execute(db);
}
