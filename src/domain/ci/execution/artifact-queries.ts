/** Artifacts as their jobs and later ones see them. */
import { type RawBuilder, type SqlBool, sql } from 'kysely';
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

/** The jobs of the pipeline that ended and left something for others, the oldest first. */
export async function selectDependencies(
  db: Db,
  job: Pick<JobRow, 'id' | 'pipeline_id'>,
  keepLatest: boolean,
): Promise<Dependency[]> {
  const { rows } = await sql<Dependency>`
    select j.id, j.name, j.stage_index, j.dotenv_sealed,
      j.erased_at is not null or a.id is null and j.artifacts_expire_at <= ${now()} as gone, a.filename, a.size
    from ci_jobs j
      join pipelines p on p.id = j.pipeline_id
      left join ci_artifacts a on a.job_id = j.id and a.file_type = 'archive' and not ${isExpired(keepLatest)}
    where j.pipeline_id = ${job.pipeline_id} and j.kind = 'job' and not j.retried and j.id <> ${job.id}
      and j.status in ('success', 'failed', 'canceled')
      and (a.id is not null or j.dotenv_sealed is not null or j.erased_at is not null or j.artifacts_expire_at is not null)
    order by j.id`.execute(db);
  return rows;
}
