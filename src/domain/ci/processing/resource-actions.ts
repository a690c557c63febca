/** Who uses what only one job may at a time (facts for CI: Resource groups). */
import { type RawBuilder, sql } from 'kysely';
import { now } from '../../../platform/clock.ts';
import { ahead, type Db } from '../../../platform/db/database.ts';
import { announceJobs } from './fact-actions.ts';

export const processModes = ['unordered', 'oldest_first', 'newest_first', 'newest_ready_first'] as const;
export type ProcessMode = (typeof processModes)[number];

/** Jobs that have the resource. */
export const using = sql`status in ('preparing', 'pending', 'running', 'canceling')`;

/** Jobs that get the resource next, and their order: in strict ones, those too that do not wait for it yet. */
export const upcoming: Record<ProcessMode, { which: RawBuilder<boolean>; order: RawBuilder<unknown> }> = {
  unordered: { which: sql`status = 'waiting_for_resource'`, order: sql`id` },
  newest_ready_first: { which: sql`status = 'waiting_for_resource'`, order: sql`pipeline_id desc, id` },
  oldest_first: {
    which: sql`status in ('created', 'scheduled', 'waiting_for_resource')`,
    order: sql`pipeline_id, (status <> 'waiting_for_resource'), id`,
  },
  newest_first: {
    which: sql`status in ('created', 'scheduled', 'waiting_for_resource')`,
    order: sql`pipeline_id desc, (status <> 'waiting_for_resource'), id`,
  },
};

/**
 * Gives the resources of the groups that are free to who is next, under the locks of the groups, which are taken after that
 * of the pipeline; returns the jobs that have one now. One of a pipeline that another transaction has locked is left to that
 * one, or to the clock.
 */
export async function assignResources(
  tx: Db,
  pipelineId: number,
  groupIds: readonly number[],
): Promise<{ id: number; pipeline_id: number }[]> {
  const { rows: groups } = await sql<{ id: number; process_mode: ProcessMode }>`
    select id, process_mode from resource_groups where id = any(${[...groupIds]}::bigint[]) order by id
    for no key update`.execute(tx);
  const assigned: { id: number; pipeline_id: number }[] = [];
  for (const { id, process_mode } of groups) {
    const { which, order } = upcoming[process_mode];
    const { rows } = await sql<{ id: number; pipeline_id: number; status: string }>`
      select id, pipeline_id, status from ci_jobs
      where resource_group_id = ${id} and not retried and ${which} and not exists (
        select from ci_jobs u where u.resource_group_id = ${id} and not u.retried
          and u.status in ('preparing', 'pending', 'running', 'canceling'))
      order by ${order} limit 1`.execute(tx);
    const [next] = rows;
    if (next?.status !== 'waiting_for_resource') continue;
    if (next.pipeline_id !== pipelineId) {
      const { rows: locked } = await sql`
        select from pipelines where id = ${next.pipeline_id} for update skip locked`.execute(tx);
      if (locked.length === 0) continue;
    }
    const time = now();
    const { rows: given } = await sql<{ id: number; pipeline_id: number }>`
      with given as (
        update ci_jobs set status = 'pending', queued_at = ${time}, updated_at = ${time}
        where id = ${next.id} and status = 'waiting_for_resource' returning *),
      told as (${announceJobs('given')})
      select id, pipeline_id from given`.execute(tx);
    assigned.push(...given);
  }
  return assigned;
}

/** The groups of these jobs, made where they are missing; returns their ids by key. */
export async function ensureResourceGroups(
  tx: Db,
  projectId: number,
  keys: readonly string[],
): Promise<Map<string, number>> {
  const distinct = [...new Set(keys)].toSorted();
  if (distinct.length === 0) return new Map();
  const time = now();
  await sql`
    insert into resource_groups (project_id, key, created_at, updated_at)
    select ${projectId}::bigint, k, ${time}::timestamptz, ${time}::timestamptz from unnest(${distinct}::text[]) k
    on conflict (project_id, key) do nothing`.execute(ahead(tx));
  const { rows } = await sql<{ id: number; key: string }>`
    select id, key from resource_groups where project_id = ${projectId} and key = any(${distinct}::text[])`.execute(
    tx,
  );
  return new Map(rows.map(({ key, id }) => [key, id]));
}
