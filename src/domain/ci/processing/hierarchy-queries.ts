/** Pipelines that others started, and what they started in turn. */
import { type RawBuilder, sql } from 'kysely';
import type { Db } from '../../../platform/db/database.ts';
import type { Ran } from './durations.ts';

/**
 * The part of a recursive statement that has, as `below`, the ids of pipelines and of those that each `root` led to, or their
 * children alone.
 */
export const below = (roots: RawBuilder<unknown>, which: 'all' | 'children'): RawBuilder<unknown> => sql`
  below (root, id) as (
    select r, r from unnest(${roots}) r
    union all
    select below.root, c.id from below join ci_jobs b on b.pipeline_id = below.id and b.kind = 'bridge'
      join pipelines c on c.source_job_id = b.id and (${which === 'all'}::boolean or c.source = 'parent_pipeline'))`;

const only = (pipelineId: number): RawBuilder<unknown> => sql`array[${pipelineId}::bigint]`;

export type Ancestor = {
  id: number;
  project_id: number;
  ref: string;
  source: string;
  /** The job that started it. */
  source_job_id: number | null;
};

/** The pipeline, the one that started it, and so on. */
export async function selectAncestry(db: Db, pipelineId: number): Promise<Ancestor[]> {
  const { rows } = await sql<Ancestor>`
    with recursive above as (
      select id, project_id, ref, source, source_job_id, source_pipeline_id from pipelines where id = ${pipelineId}
      union all
      select p.id, p.project_id, p.ref, p.source, p.source_job_id, p.source_pipeline_id from above
        join pipelines p on p.id = above.source_pipeline_id)
    select id, project_id, ref, source, source_job_id from above order by id desc`.execute(db);
  return rows;
}

/** How many pipelines the first of an ancestry led to, with itself, also by the tokens of jobs; they are counted as far as they may go. */
export async function countHierarchy(
  db: Db,
  ancestry: readonly Pick<Ancestor, 'id'>[],
  most: number,
): Promise<number> {
  const { rows } = await sql<{ count: number }>`
    with recursive led (id) as (
      select ${ancestry.at(-1)?.id ?? 0}::bigint
      union all
      select c.id from led join pipelines c on c.source_pipeline_id = led.id)
    select count(*)::integer as count from (select from led limit ${Number.isFinite(most) ? most : null}) l`.execute(
    db,
  );
  return rows[0]?.count ?? 0;
}

/** The ids of a pipeline and of its children, in their order. */
export async function selectWithChildren(db: Db, pipelineId: number): Promise<number[]> {
  const { rows } = await sql<{ id: number }>`
    with recursive ${below(only(pipelineId), 'children')} select id from below order by id`.execute(db);
  return rows.map(({ id }) => id);
}

/** When the jobs ran of the pipelines that this one led to. */
export async function selectRanBelow(db: Db, pipelineId: number): Promise<Ran[]> {
  const { rows } = await sql<Ran>`
    with recursive ${below(only(pipelineId), 'all')}
    select j.started_at, j.finished_at from below join ci_jobs j on j.pipeline_id = below.id
    where below.id <> ${pipelineId} and j.kind = 'job' and not j.retried
      and j.status in ('success', 'failed', 'running', 'canceled')`.execute(db);
  return rows;
}
