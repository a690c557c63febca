/** Reads pipelines for mails. */
import { type RawBuilder, sql } from 'kysely';

export type MailedPipelineRow = {
  id: number;
  ref: string;
  sha: string;
  repository_storage: string;
  /** The jobs that let it fail, in the order of their stages. */
  failed: { id: number; name: string; stage: string }[];
};

/** Failed jobs that a mail names. */
const MAX_JOBS = 50;

export const selectMailedPipeline = (projectId: number, id: number): RawBuilder<unknown> => sql`
  select l.id, l.ref, l.sha, p.repository_storage,
    coalesce((select jsonb_agg(jsonb_build_object('id', f.id, 'name', f.name, 'stage', f.stage) order by f.stage_index, f.id)
      from (select id, name, stage, stage_index from ci_jobs where pipeline_id = l.id and kind <> 'status' and not retried
        and status = 'failed' and not allow_failure order by stage_index, id limit ${MAX_JOBS}) f), '[]') as failed
  from pipelines l join projects p on p.id = l.project_id where l.id = ${id} and l.project_id = ${projectId}`;
