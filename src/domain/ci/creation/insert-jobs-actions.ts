/** Writes the jobs of a new pipeline, with the environments and resource groups that they name. */
import { sql } from 'kysely';
import { now } from '../../../platform/clock.ts';
import type { Db } from '../../../platform/db/database.ts';
import { ensureOfJobs } from '../environments/insert-actions.ts';
import type { CompiledPipeline } from '../file/compile-thread.ts';
import { insertDeployments } from '../processing/deployment-actions.ts';
import { changeJobs } from '../processing/fact-actions.ts';
import type { PipelineRow } from '../processing/process-actions.ts';
import { ensureResourceGroups } from '../processing/resource-actions.ts';
import { deployerOf } from '../protected-environments/deployer-queries.ts';
import type { Creator } from './compile-request.ts';

/** A longer key, when its variables are there, is none. */
const MAX_KEY_LENGTH = 255;

export type CompiledJobs = Pick<CompiledPipeline, 'jobs' | 'environments' | 'resourceGroups'>;

/** In the order of the plan. A job whose environment cannot be made has failed. */
export async function insertJobs(
  tx: Db,
  creator: Creator,
  pipeline: PipelineRow,
  { jobs, environments, resourceGroups }: CompiledJobs,
): Promise<void> {
  const known = await ensureOfJobs(tx, { id: pipeline.project_id }, environments);
  const deployer = known.size > 0 ? await deployerOf(tx, creator) : undefined;
  const groups = await ensureResourceGroups(
    tx,
    pipeline.project_id,
    resourceGroups.filter((key) => key.length <= MAX_KEY_LENGTH),
  );
  const environmentRows = JSON.stringify(
    [...known.values()].map((row) => ({
      id: row.id,
      name: row.name,
      may_deploy: deployer?.mayDeploy(row),
      needs_approval: deployer?.needsApproval(row),
    })),
  );
  const groupRows = JSON.stringify([...groups].map(([key, id]) => ({ key, id })));
  const time = now();
  for (const chunk of jobs)
    await changeJobs(
      tx,
      sql`
      insert into ci_jobs (pipeline_id, project_id, kind, name, stage, stage_index, status, runs_when, allow_failure, needs, tags,
        protected, interruptible, options, environment_id, may_deploy, needs_approval, resource_group_id, failure_reason, finished_at, user_id,
        created_at, updated_at)
      select ${pipeline.id}::bigint, ${pipeline.project_id}::bigint, j.kind, j.name, j.stage, j."stageIndex",
        case when f.fails then 'failed' else 'created' end, j."when", j."allowFailure",
        case j."schedulingType" when 'dag' then array(select need->>'name'
          from jsonb_array_elements(j.needs) with ordinality n (need, nth) order by n.nth) end,
        j.tags, ${pipeline.protected}::boolean, j.interruptible, o.options, e.id, coalesce(e.may_deploy, true),
        coalesce(e.needs_approval and j.environment ->> 'action' <> 'stop', false), g.id,
        case when f.fails then 'environment_creation_failure' end, case when f.fails then ${time}::timestamptz end,
        ${creator.actor.id}::bigint, ${time}::timestamptz, ${time}::timestamptz
      from jsonb_array_elements(${chunk}::text::jsonb) with ordinality o (options, nth)
        cross join jsonb_to_record(o.options) as j (name text, kind text, stage text, "stageIndex" integer, "when" text,
          "allowFailure" boolean, "schedulingType" text, needs jsonb, tags text[], interruptible boolean, environment jsonb,
          "resourceGroup" text)
        left join jsonb_to_recordset(${environmentRows}::text::jsonb) as e (id bigint, name text, may_deploy boolean, needs_approval boolean)
          on j.kind = 'job' and e.name = j.environment ->> 'name'
        left join jsonb_to_recordset(${groupRows}::text::jsonb) as g (key text, id bigint)
          on j.kind = 'job' and g.key = j."resourceGroup"
        cross join lateral (select j.kind = 'job' and j.environment ->> 'action' = 'start' and e.id is null as fails) f
      order by o.nth returning id, kind, status, project_id, pipeline_id, updated_at`,
    );
  if (known.size > 0) await insertDeployments(tx, pipeline);
}
