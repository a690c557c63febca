/** Gives a waiting job to a runner: to one alone, however many ask at the same time. */
import { sql } from 'kysely';
import { now } from '../../../platform/clock.ts';
import { type Db, runAlone } from '../../../platform/db/database.ts';
import type { JobRow } from '../processing/process-actions.ts';
import type { AuthenticRunner } from '../runners/authenticate-queries.ts';
import { following } from './begin-actions.ts';

export type Claim = {
  runner: AuthenticRunner;
  managerId: number;
  cancelGracefully: boolean;
  /** The runner says when the job begins; otherwise it begins now. */
  prepares: boolean;
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

/** Of each project, so that one with very many jobs for other runners keeps this one's request no longer than others. */
const MAX_LOOKED_AT = 2_000;

const isWaiting = sql`j.status = 'pending' and j.kind = 'job' and j.runner_id is null`;

/** The projects that have jobs waiting, each once, found by steps of the index: not by all that wait. */
const projectsWaiting = sql`
  (select j.project_id from ci_jobs j where ${isWaiting} order by j.project_id limit 1)
  union all
  select (select j.project_id from ci_jobs j where ${isWaiting} and j.project_id > w.project_id order by j.project_id limit 1)
  from waiting w where w.project_id is not null`;

/**
 * The next job that the runner may take, which is its own now, with the token that was made for it; undefined without one. The
 * runners of the instance serve projects by turns, others the oldest job first. A pipeline that only waited runs with its job:
 * it is locked after the job, by others before it, and what deadlocks for that is tried again.
 */
export async function claimJob(db: Db, claim: Claim): Promise<JobRow | undefined> {
  const { runner, managerId, cancelGracefully, prepares, digest } = claim;
  const { tag_list: tags, run_untagged: untagged, access_level, maximum_timeout } = runner;
  const time = now();
  const turns =
    runner.runner_type === 'instance_type'
      ? sql`(select count(*) from ci_jobs r where r.project_id = p.id and r.status = 'running' and r.kind = 'job')`
      : sql`0`;
  const isTaken = sql`${isWaiting} and j.tags <@ ${tags}::text[] and (${untagged}::boolean or cardinality(j.tags) > 0)
    and (${access_level !== 'ref_protected'}::boolean or j.protected)
    and exists (select from users u where u.id = j.user_id and u.state = 'active')`;
  const query = sql<JobRow>`
    with recursive waiting (project_id) as (${projectsWaiting}),
    places as materialized (
      select p.id, p.settings, ${turns} as running, f.first_id
      from waiting w join projects p on p.id = w.project_id
        cross join lateral (
          select j.id as first_id from (
            select * from ci_jobs j where j.project_id = p.id and ${isWaiting} order by j.id limit ${MAX_LOOKED_AT}) j
          where ${isTaken} order by j.id limit 1) f
      where not p.deleting and coalesce(p.settings ->> 'builds_access_level', 'enabled') <> 'disabled' and ${reached(runner)}),
    candidate as (
      select j.id,
        coalesce((j.options ->> 'timeout')::integer, (o.settings ->> 'build_timeout')::integer, 3600) as own_timeout
      from (select * from places order by running, first_id) o
        -- One after the other, until one has a job that no other request has locked.
        cross join lateral (
          select j.id, j.options from ci_jobs j where j.project_id = o.id and j.id >= o.first_id and ${isTaken}
          order by j.id limit 1 for update skip locked) j
      limit 1),
    claimed as (
      update ci_jobs j set status = ${prepares ? 'pending' : 'running'}, started_at = ${prepares ? null : time}::timestamptz,
        updated_at = ${time}, runner_id = ${runner.id},
        runner_manager_id = ${managerId}, cancel_gracefully = ${cancelGracefully}, token_digest = ${digest},
        timeout = least(c.own_timeout, coalesce(nullif(${maximum_timeout}::integer, 0), c.own_timeout))
      from candidate c where c.id = j.id returning j.*),
    token as (
      insert into access_tokens (kind, digest, user_id, project_id, name, scopes, expires_at, created_at, updated_at)
      select 'job', ${digest}, user_id, project_id, 'job ' || id, '{}', ${time}::timestamptz + (timeout + 900) * interval '1 second',
        ${time}, ${time} from claimed),
    begun as (select * from claimed where status = 'running'),
    ${following(time)}
    select * from claimed`;
  const { rows } = await runAlone(db, query);
  return rows[0];
}
