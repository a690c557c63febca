/** Gives a waiting job to a runner: to one alone, however many ask at the same time. */
import { sql } from 'kysely';
import { now } from '../../../platform/clock.ts';
import type { Db } from '../../../platform/db/database.ts';
import { announceDeployments, announceJobs, announcePipelines } from '../processing/fact-actions.ts';
import type { JobRow } from '../processing/process-actions.ts';
import type { AuthenticRunner } from '../runners/authenticate-queries.ts';

export type Claim = {
  runner: AuthenticRunner;
  managerId: number;
  cancelGracefully: boolean;
  /** Of the job's token. */
  digest: Buffer;
};

/** The projects whose jobs a runner takes, of a project `p`. */
function reached({ id, runner_type, namespace_id }: AuthenticRunner) {
  if (runner_type === 'instance_type')
    return sql`coalesce(p.settings ->> 'shared_runners_enabled', 'true') = 'true'`;
  if (runner_type === 'group_type')
    return sql`coalesce(p.settings ->> 'group_runners_enabled', 'true') = 'true' and exists (
      select from namespaces n where n.id = p.namespace_id and ${namespace_id}::bigint = any(n.ancestor_ids || n.id))`;
  return sql`exists (select from runner_projects o where o.runner_id = ${id} and o.project_id = p.id)`;
}

/**
 * The next job that the runner may take, which runs now, with the token that was made for it; undefined without one. The
 * runners of the instance serve projects by turns, others the oldest job first. A pipeline that only waited runs, too.
 */
export async function claimJob(db: Db, claim: Claim): Promise<JobRow | undefined> {
  const { runner, managerId, cancelGracefully, digest } = claim;
  const { tag_list: tags, run_untagged: untagged, access_level, maximum_timeout } = runner;
  const time = now();
  const turns = runner.runner_type === 'instance_type' ? sql`coalesce(r.running, 0),` : sql``;
  const { rows } = await sql<JobRow>`
    with candidate as (
      select j.id,
        coalesce((j.options ->> 'timeout')::integer, (p.settings ->> 'build_timeout')::integer, 3600) as own_timeout
      from ci_jobs j
        join projects p on p.id = j.project_id
        join users u on u.id = j.user_id and u.state = 'active'
        left join (
          select project_id, count(*) as running from ci_jobs where status = 'running' and kind = 'job' group by project_id
        ) r on r.project_id = j.project_id
      where j.status = 'pending' and j.kind = 'job' and not p.deleting
        and coalesce(p.settings ->> 'builds_access_level', 'enabled') <> 'disabled'
        and j.tags <@ ${tags}::text[] and (${untagged}::boolean or cardinality(j.tags) > 0)
        and (${access_level !== 'ref_protected'}::boolean or j.protected) and ${reached(runner)}
      order by ${turns} j.id limit 1 for update of j skip locked),
    claimed as (
      update ci_jobs j set status = 'running', started_at = ${time}, updated_at = ${time}, runner_id = ${runner.id},
        runner_manager_id = ${managerId}, cancel_gracefully = ${cancelGracefully}, token_digest = ${digest},
        timeout = least(c.own_timeout, coalesce(nullif(${maximum_timeout}::integer, 0), c.own_timeout))
      from candidate c where c.id = j.id returning j.*),
    token as (
      insert into access_tokens (kind, digest, user_id, project_id, name, scopes, expires_at, created_at, updated_at)
      select 'job', ${digest}, user_id, project_id, 'job ' || id, '{}', ${time}::timestamptz + (timeout + 900) * interval '1 second',
        ${time}, ${time} from claimed),
    deployment as (
      update deployments d set status = 'running', updated_at = ${time} from claimed where d.job_id = claimed.id returning d.*),
    pipeline as (
      update pipelines p set status = 'running', started_at = coalesce(p.started_at, ${time}), updated_at = ${time}
      from claimed where p.id = claimed.pipeline_id and p.status <> 'running' returning p.*),
    told_deployment as (${announceDeployments('deployment')}),
    told_job as (${announceJobs('claimed')}),
    told_pipeline as (${announcePipelines('pipeline')})
    select * from claimed`.execute(db);
  return rows[0];
}
