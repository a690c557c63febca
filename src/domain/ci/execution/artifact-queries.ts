/** Artifacts as their jobs and later ones see them. */
import { type RawBuilder, type SqlBool, sql } from 'kysely';
import type { AuthorizedProject } from '../../../kernel/access/find.ts';
import { now } from '../../../platform/clock.ts';
import type { Db } from '../../../platform/db/database.ts';
import type { JobRow } from '../processing/process-actions.ts';

/** Sources of pipelines that a ref does not fare by: of others, or without jobs of their own. */
export const notOfRefs = sql`('parent_pipeline', 'external')`;

/**
 * Whether an artifact `a`, of a pipeline `p`, is kept whatever its time: those of the last successful pipeline of a ref, and of
 * later ones are, where the instance and the project want it so.
 */
export const isKeptLatest = (keepLatest: boolean): RawBuilder<SqlBool> => sql<SqlBool>`(${keepLatest}::boolean
  and (select coalesce(r.settings ->> 'keep_latest_artifact', 'true') = 'true' from projects r where r.id = a.project_id)
  and not exists (select from pipelines n where n.project_id = p.project_id and n.ref = p.ref and n.tag = p.tag
    and n.id > p.id and n.status = 'success' and n.source not in ${notOfRefs}))`;

/** Whether it is past its time. */
export const isExpired = (keepLatest: boolean): RawBuilder<SqlBool> => sql<SqlBool>`(
  a.expires_at is not null and a.expires_at <= ${now()} and not ${isKeptLatest(keepLatest)})`;

export type Dependency = {
  id: number;
  name: string;
  stage_index: number;
  dotenv_sealed: string | null;
  /** Its artifacts were erased, or expired. */
  gone: boolean;
  filename: string | null;
  size: number | null;
};

/** The jobs `j` that left something for others, with what it is; a condition follows. */
const leaving = (keepLatest: boolean) => sql`
    select j.id, j.name, j.stage_index, j.dotenv_sealed,
      j.erased_at is not null or a.id is null and j.artifacts_expire_at <= ${now()} as gone, a.filename, a.size
    from ci_jobs j
      join pipelines p on p.id = j.pipeline_id
      left join ci_artifacts a on a.job_id = j.id and a.file_type = 'archive' and not ${isExpired(keepLatest)}
    where j.kind = 'job' and not j.retried
      and (a.id is not null or j.dotenv_sealed is not null or j.erased_at is not null or j.artifacts_expire_at is not null)`;

/** The jobs of the pipeline that ended and left something for others, the oldest first. */
export async function selectDependencies(
  db: Db,
  job: Pick<JobRow, 'id' | 'pipeline_id'>,
  keepLatest: boolean,
): Promise<Dependency[]> {
  const { rows } = await sql<Dependency>`${leaving(keepLatest)}
    and j.pipeline_id = ${job.pipeline_id} and j.id <> ${job.id} and j.status in ('success', 'failed', 'canceled')
    order by j.id`.execute(db);
  return rows;
}

/** Whether two pipelines have the same ancestor of which both are children, or one is the other's. */
export async function isOfSameHierarchy(db: Db, one: number, other: number): Promise<boolean> {
  // Whatever started a pipeline is older.
  const { rows } = await sql<{ roots: number; starts: number }>`
    with recursive above (start, id, source, source_job_id) as (
      select id, id, source, source_job_id from pipelines where id = any(${[one, other]}::bigint[])
      union all
      select a.start, p.id, p.source, p.source_job_id from above a join ci_jobs b on b.id = a.source_job_id
        join pipelines p on p.id = b.pipeline_id where a.source = 'parent_pipeline')
    select count(distinct root)::integer as roots, count(*)::integer as starts
    from (select min(id) as root from above group by start) r`.execute(db);
  return rows[0]?.roots === 1 && rows[0].starts === new Set([one, other]).size;
}

/** The job of this name in a pipeline, where it went well and left something. */
export async function selectOfPipeline(
  db: Db,
  pipelineId: number,
  job: string,
  keepLatest: boolean,
): Promise<Dependency | undefined> {
  const { rows } = await sql<Dependency>`${leaving(keepLatest)}
    and j.pipeline_id = ${pipelineId} and j.name = ${job} and j.status = 'success'`.execute(db);
  return rows[0];
}

/** The same in the last successful pipeline of a ref, where all that it left is open to these. */
export async function selectOfRef(
  db: Db,
  project: Pick<AuthorizedProject, 'id'>,
  { ref, job, access }: { ref: string; job: string; access: string[] },
  keepLatest: boolean,
): Promise<Dependency | undefined> {
  const { rows } = await sql<Dependency>`${leaving(keepLatest)}
    and j.pipeline_id = (select n.id from pipelines n where n.project_id = ${project.id} and n.ref = ${ref}
      and n.status = 'success' and n.source not in ${notOfRefs} order by n.id desc limit 1)
    and j.name = ${job} and j.status = 'success'
    and not exists (select from ci_artifacts o where o.job_id = j.id and o.file_type in ('archive', 'dotenv')
      and o.access <> all(${access}::text[]))`.execute(db);
  return rows[0];
}
