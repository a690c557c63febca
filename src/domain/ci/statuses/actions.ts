/** Takes other programs' statuses of a commit. */
import { sql } from 'kysely';
import type { AuthorizedProject } from '../../../kernel/access/find.ts';
import type { Actor } from '../../../kernel/actor.ts';
import { found } from '../../../kernel/api/endpoint.ts';
import { now } from '../../../platform/clock.ts';
import { ahead, type Db, inTransaction } from '../../../platform/db/database.ts';
import { runAsOne } from '../../../platform/db/run-as-one.ts';
import { Failure, invalid } from '../../../platform/failure.ts';
import { isWebAddress } from '../../../platform/http/web-address.ts';
import { insertPipeline } from '../pipelines/insert-actions.ts';
import { pipelinesOf } from '../pipelines/queries.ts';
import { type JobRow, type PipelineRow, processPipeline } from '../processing/process-actions.ts';
import { type StatusRow, selectStatuses } from './queries.ts';
import { isGoingOn, transitionRefusal } from './rules.ts';
import type { StatusInput } from './schema.ts';

/** The commit, and the branch or tag; without one, that of the pipeline is meant that has the id or is the last. */
export type StatusTarget = { sha: string; ref: string | undefined; tag: boolean };

/**
 * The new status, or the changed one where the caller's of the name had not ended; undefined where the commit has no
 * pipeline and no ref is given. 400 for an invalid change of state; 404 for a pipeline that is not the commit's; 422 for a new one
 * where it has `most` jobs already.
 */
export function setStatus(
  db: Db,
  actor: Actor,
  project: AuthorizedProject,
  target: StatusTarget,
  { most, ...input }: StatusInput & { most: number },
): Promise<StatusRow | undefined> {
  const { target_url } = input;
  if (target_url !== undefined && !isWebAddress(target_url))
    throw invalid({ target_url: ['is blocked: Only allowed schemes are http, https'] });
  return inTransaction(db, async (tx) => {
    const name = input.name ?? input.context ?? 'default';
    const locked = await lockPipeline(tx, actor, project, { ...target, name }, input.pipeline_id);
    if (!locked) return undefined;
    const { pipeline, before } = locked;
    const going = before && isGoingOn(before.status) && before.user_id === actor.id ? before : undefined;
    const refusal = transitionRefusal(going?.status ?? 'created', input.state);
    if (refusal !== undefined) throw new Failure('bad_request', refusal);
    if (!going) await requireRoom(tx, pipeline, most);
    const time = now();
    const change = {
      status: input.state,
      ...(target_url !== undefined && { target_url }),
      ...(input.description !== undefined && { description: input.description }),
      ...(input.coverage !== undefined && { coverage: input.coverage }),
      failure_reason: input.state === 'failed' ? 'api_failure' : null,
      started_at: going?.started_at ?? (input.state === 'running' ? time : null),
      finished_at: isGoingOn(input.state) ? null : time,
      user_id: actor.id,
      updated_at: time,
    };
    if (before && !going)
      await ahead(tx).updateTable('ci_jobs').set({ retried: true }).where('id', '=', before.id).execute();
    const { id: pipeline_id, project_id } = pipeline;
    const written = going
      ? tx.updateTable('ci_jobs').set(change).where('id', '=', going.id).returningAll()
      : tx
          .insertInto('ci_jobs')
          .values({
            ...change,
            pipeline_id,
            project_id,
            kind: 'status',
            stage: 'external',
            stage_index: 1_000_000,
            name,
            created_at: time,
          })
          .returningAll();
    const parts = [sql`ci_jobs as (${written})`];
    const [row] = await runAsOne(tx, { statements: [], parts }, selectStatuses(tx));
    await processPipeline(tx, pipeline);
    return row;
  });
}

/** Each status is gone over with all others of the pipeline, and those that it took the place of stay. */
const MAX_STATUSES = 10_000;

async function requireRoom(tx: Db, { id }: Pick<PipelineRow, 'id'>, limit: number): Promise<void> {
  const most = Math.min(limit, MAX_STATUSES);
  const { rows } = await sql`
    select from ci_jobs where pipeline_id = ${id} and kind = 'status' offset ${most - 1} limit 1`.execute(tx);
  if (rows.length > 0) throw new Failure('unprocessable', 'The number of jobs has exceeded the limit');
}

type Before = Pick<JobRow, 'id' | 'status' | 'started_at' | 'user_id'>;

/** Statuses belong to the commit's newest pipeline as long as it is one of so many last ones of the project. */
const LAST_PIPELINES = 100;

/** The pipeline, made when there is none, and the status of the name; locked, so that one is written after the other. */
async function lockPipeline(
  tx: Db,
  actor: Actor,
  project: AuthorizedProject,
  { sha, ref, tag, name }: StatusTarget & { name: string },
  id: number | undefined,
): Promise<{ pipeline: PipelineRow; before?: Before | undefined } | undefined> {
  // One pipeline is made, however many programs say something at the same time.
  await sql`select pg_advisory_xact_lock(hashtextextended(${`statuses ${project.id} ${sha}`}, 0))`.execute(
    ahead(tx),
  );
  const query = pipelinesOf(tx, project)
    .leftJoin('ci_jobs as j', (join) =>
      join
        .onRef('j.pipeline_id', '=', 'pipelines.id')
        .on('j.name', '=', name)
        .on('j.kind', '=', 'status')
        .on('j.retried', '=', false),
    )
    .select([
      'j.id as before_id',
      'j.status as before_status',
      'j.started_at as before_started_at',
      'j.user_id as before_user_id',
    ])
    .where('sha', '=', sha)
    .where(
      sql<boolean>`iid > coalesce((select c.pipelines from project_counters c where c.project_id = ${project.id}), 0) - ${LAST_PIPELINES}`,
    )
    .orderBy('pipelines.id', 'desc')
    .limit(1)
    .forUpdate('pipelines');
  const named = id === undefined ? query : query.where('pipelines.id', '=', id);
  const existing = await (ref === undefined ? named : named.where('ref', '=', ref)).executeTakeFirst();
  if (existing) {
    const { before_id, before_status, before_started_at, before_user_id, ...pipeline } = existing;
    const before =
      before_id === null || before_status === null || before_user_id === null
        ? undefined
        : { id: before_id, status: before_status, started_at: before_started_at, user_id: before_user_id };
    return { pipeline, before };
  }
  if (id !== undefined) return found(undefined, 'Pipeline for pipeline_id, sha and ref');
  if (ref === undefined) return undefined;
  const values = { sha, ref, tag, source: 'external', user_id: actor.id };
  return { pipeline: await insertPipeline(tx, project, values) };
}
