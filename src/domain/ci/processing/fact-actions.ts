/** Statements that change jobs and pipelines write the facts of it themselves: hooks and mails follow these. */
import { type RawBuilder, sql } from 'kysely';
import { ahead, type Db } from '../../../platform/db/database.ts';
import { insertFacts } from '../../../platform/outbox/outbox.ts';

/**
 * The part of a statement that tells of jobs; `relation` has their rows as they are now. Only what runners run is told, and which
 * jobs are to start another pipeline.
 */
export const announceJobs = (relation: string): RawBuilder<unknown> =>
  sql.raw(
    insertFacts(`
      select 'jobs_changed', jsonb_build_object('project_id', project_id, 'pipeline_id', pipeline_id,
        'jobs', jsonb_agg(jsonb_build_object('id', id, 'status', status) order by id)), max(updated_at)
      from ${relation} where kind = 'job' group by project_id, pipeline_id
      union all
      (select 'bridge_pending', jsonb_build_object('project_id', project_id, 'bridge_id', id), updated_at
      from ${relation} where kind = 'bridge' and status = 'pending' order by id)`),
  );

/**
 * The same of pipelines, and of those that succeeded or failed that they did. `was_failing`: the one of the ref before it that did
 * either had failed. `begins_anew`: they had ended.
 */
export const announcePipelines = (relation: string, beginsAnew = false): RawBuilder<unknown> =>
  sql.raw(
    insertFacts(`
      select 'pipeline_changed', jsonb_build_object('project_id', project_id, 'pipeline_id', id, 'sha', sha, 'status', status,
        'bridge_id', source_job_id, 'begins_anew', ${beginsAnew}), updated_at
      from ${relation}
      union all
      select 'pipeline_finished', jsonb_build_object('project_id', project_id, 'user_id', user_id, 'pipeline_id', id,
        'ref', ref, 'tag', tag, 'sha', sha, 'merge_request_id', merge_request_id, 'status', status, 'was_failing', coalesce((select p.status = 'failed' from pipelines p
          where p.project_id = r.project_id and p.ref = r.ref and p.tag = r.tag and p.id < r.id
            and p.source <> 'parent_pipeline' and p.status in ('success', 'failed') order by p.id desc limit 1), false)), updated_at
      from ${relation} r where status in ('success', 'failed')`),
  );

/** The same of deployments; those that only wait are not told. */
export const announceDeployments = (relation: string): RawBuilder<unknown> =>
  sql.raw(
    insertFacts(`
      select 'deployments_changed', jsonb_build_object('project_id', project_id,
        'deployments', jsonb_agg(jsonb_build_object('id', id, 'status', status) order by id)), max(updated_at)
      from ${relation} where status <> 'created' group by project_id`),
  );

/** Runs a statement that changes jobs and returns their rows, and tells of them by the same. */
export async function changeJobs(tx: Db, change: RawBuilder<unknown>): Promise<void> {
  await sql`with changed as (${change}) ${announceJobs('changed')}`.execute(ahead(tx));
}
