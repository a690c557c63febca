/** Takes other programs' statuses of a commit. */
import { type Selectable, sql } from 'kysely';
import type { AuthorizedProject } from '../../../kernel/access/find.ts';
import type { Actor } from '../../../kernel/actor.ts';
import { found } from '../../../kernel/api/endpoint.ts';
import { now } from '../../../platform/clock.ts';
import { ahead, type Db, inTransaction } from '../../../platform/db/database.ts';
import type { ExternalPipelinesTable } from '../../../platform/db/rows.ts';
import { runAsOne } from '../../../platform/db/run-as-one.ts';
import { Failure, invalid } from '../../../platform/failure.ts';
import { isWebAddress } from '../../../platform/http/web-address.ts';
import { type StatusRow, selectStatuses } from './status-queries.ts';
import { isGoingOn, transitionRefusal } from './status-rules.ts';
import type { StatusInput } from './status-schema.ts';

/** The commit, and the branch or tag; without one, that of the pipeline is meant that has the id or is the last. */
export type StatusTarget = { sha: string; ref: string | undefined };

type Pipeline = Selectable<ExternalPipelinesTable>;

/**
 * The new status, or the changed one where that of the name had not ended; undefined where the commit has no pipeline and
 * no ref is given. 400 for an invalid change of state; 404 for a pipeline that is not the commit's.
 */
export function setStatus(
  db: Db,
  actor: Actor,
  project: AuthorizedProject,
  target: StatusTarget,
  input: StatusInput,
): Promise<StatusRow | undefined> {
  const { target_url } = input;
  if (target_url !== undefined && !isWebAddress(target_url))
    throw invalid({ target_url: ['is blocked: Only allowed schemes are http, https'] });
  return inTransaction(db, async (tx) => {
    const pipeline = await lockPipeline(tx, project, target, input.pipeline_id);
    if (!pipeline) return undefined;
    const name = input.name ?? input.context ?? 'default';
    const before = await tx
      .selectFrom('commit_statuses')
      .select(['id', 'status', 'started_at'])
      .where('pipeline_id', '=', pipeline.id)
      .where('name', '=', name)
      .executeTakeFirst();
    const going = before && isGoingOn(before.status) ? before : undefined;
    const refusal = transitionRefusal(going?.status ?? 'created', input.state);
    if (refusal !== undefined) throw new Failure('bad_request', refusal);
    const time = now();
    const change = {
      status: input.state,
      ...(target_url !== undefined && { target_url }),
      ...(input.description !== undefined && { description: input.description }),
      ...(input.coverage !== undefined && { coverage: input.coverage }),
      started_at: going?.started_at ?? (input.state === 'running' ? time : null),
      finished_at: isGoingOn(input.state) ? null : time,
      author_id: actor.id,
      updated_at: time,
    };
    if (before && !going) await ahead(tx).deleteFrom('commit_statuses').where('id', '=', before.id).execute();
    const { project_id, sha, ref } = pipeline;
    const written = going
      ? tx.updateTable('commit_statuses').set(change).where('id', '=', going.id).returningAll()
      : tx
          .insertInto('commit_statuses')
          .values({ ...change, pipeline_id: pipeline.id, project_id, sha, ref, name, created_at: time })
          .returningAll();
    const parts = [sql`commit_statuses as (${written})`];
    const [row] = await runAsOne(tx, { statements: [], parts }, selectStatuses(tx));
    return row;
  });
}

/** The pipeline, made when there is none; locked, so that its statuses are written one after the other. */
async function lockPipeline(
  tx: Db,
  project: AuthorizedProject,
  { sha, ref }: StatusTarget,
  id: number | undefined,
): Promise<Pipeline | undefined> {
  const select = () => {
    const query = tx
      .selectFrom('external_pipelines')
      .selectAll()
      .where('project_id', '=', project.id)
      .where('sha', '=', sha)
      .orderBy('id', 'desc')
      .limit(1)
      .forUpdate();
    const named = id === undefined ? query : query.where('id', '=', id);
    return (ref === undefined ? named : named.where('ref', '=', ref)).executeTakeFirst();
  };
  const existing = await select();
  if (existing || (ref === undefined && id === undefined)) return existing;
  if (ref !== undefined && id === undefined)
    await ahead(tx)
      .insertInto('external_pipelines')
      .values({ project_id: project.id, sha, ref, created_at: now() })
      .onConflict((conflict) => conflict.columns(['project_id', 'sha', 'ref']).doNothing())
      .execute();
  return found(await select(), 'Pipeline for pipeline_id, sha and ref');
}

/** Makes the statuses that a deleted user set the ghost's. */
export async function reassignStatuses(tx: Db, userId: number, ghostId: number): Promise<void> {
  await ahead(tx)
    .updateTable('commit_statuses')
    .set({ author_id: ghostId })
    .where('author_id', '=', userId)
    .execute();
}
