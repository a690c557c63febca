/** Reads which reports a pipeline has. */
import { sql } from 'kysely';
import type { Db } from '../../../platform/db/database.ts';
import { isExpired } from '../execution/artifact-queries.ts';
import type { PipelineRow } from '../processing/process-actions.ts';

export type ReportFile = { id: number; name: string; sha256: Buffer; access: string };

/** Those of these types of its jobs that no other took the place of. */
export async function selectReports(
  db: Db,
  pipeline: Pick<PipelineRow, 'id'>,
  types: readonly string[],
  keepLatest: boolean,
): Promise<ReportFile[]> {
  const { rows } = await sql<ReportFile>`
    select j.id, j.name, a.sha256, a.access from ci_jobs j
      join pipelines p on p.id = j.pipeline_id
      join ci_artifacts a on a.job_id = j.id and a.file_type = any(${[...types]}::text[])
    where j.pipeline_id = ${pipeline.id} and j.kind = 'job' and not j.retried and not ${isExpired(keepLatest)}
    order by j.id, a.id`.execute(db);
  return rows;
}
