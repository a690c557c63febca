/** Reads which reports of tests a pipeline has. */
import { sql } from 'kysely';
import type { Db } from '../../../platform/db/database.ts';
import { isExpired } from '../execution/artifact-queries.ts';
import type { PipelineRow } from '../processing/process-actions.ts';

export type ReportFile = { id: number; name: string; secret: string };

/** Those of its jobs that no other took the place of. */
export async function selectTestReports(
  db: Db,
  pipeline: Pick<PipelineRow, 'id'>,
  keepLatest: boolean,
): Promise<ReportFile[]> {
  const { rows } = await sql<ReportFile>`
    select j.id, j.name, a.secret from ci_jobs j
      join pipelines p on p.id = j.pipeline_id
      join ci_artifacts a on a.job_id = j.id and a.file_type = 'junit'
    where j.pipeline_id = ${pipeline.id} and j.kind = 'job' and not j.retried and not ${isExpired(keepLatest)}
    order by j.id`.execute(db);
  return rows;
}
