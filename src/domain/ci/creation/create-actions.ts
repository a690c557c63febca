/** Makes pipelines from the configuration file of a commit (facts for CI: When pipelines are created). */
import { sql } from 'kysely';
import { limitOf } from '../../../kernel/instance/plan-limits.ts';
import { projectSettings } from '../../../kernel/namespaces/project-settings.ts';
import { ahead, type Db, inTransaction } from '../../../platform/db/database.ts';
import { Failure, invalid } from '../../../platform/failure.ts';
import { NO_OBJECT } from '../../../platform/git/names.ts';
import { seal } from '../../../platform/secret.ts';
import type { CompiledOutcome } from '../file/compile-thread.ts';
import { compileFile } from '../file/compiler.ts';
import { insertPipeline } from '../pipelines/insert-actions.ts';
import { announcePipelines } from '../processing/fact-actions.ts';
import { countHierarchy, selectAncestry } from '../processing/hierarchy-queries.ts';
import { type PipelineRow, processPipeline } from '../processing/process-actions.ts';
import { cancelRedundant } from '../processing/redundant-actions.ts';
import { maySetVariables } from '../variables/rules.ts';
import {
  type Creator,
  compileRequest,
  findTarget,
  mergeRequestVariables,
  type PipelineRequest,
  type PipelineVariable,
  readConfiguration,
  rightOnRef,
} from './compile-request.ts';
import { type CompiledJobs, insertJobs } from './insert-jobs-actions.ts';
import { countActiveJobs } from './queries.ts';
import { asksToSkip, doubled, problemsOf, refusalOf } from './rules.ts';

/** Of a wrong file, with its pipeline. */
const MAX_KEPT_PROBLEMS = 100;

/** Why there is no pipeline, in the public API's words. */
const refuse = (...base: string[]): Error => invalid({ base });

/**
 * Makes the pipeline, and its first jobs wait for runners. 400 without the ref, the file or the rights, and for a wrong file; of a
 * fact, for which nobody waits, nothing is made then, but for a wrong file a pipeline that failed. Undefined where a fact makes none.
 */
export async function createPipeline(
  creator: Creator,
  request: PipelineRequest,
): Promise<PipelineRow | undefined> {
  const { actor, subject } = creator;
  const isFollowing = request.factId !== undefined;
  const target = await findTarget(creator, request);
  if (!target) throw refuse('Reference not found');
  const { commit, kind } = target;
  const text = request.configuration?.text ?? (await readConfiguration(creator, commit));
  // Most projects have none, and their pushes ask no further.
  if (text === undefined && isFollowing) return undefined;
  const right = await rightOnRef(creator, request, target);
  if (!right.mayRun) throw refuse(refusalOf(request.ref));
  const variables = request.variables ?? [];
  const isChild = request.source === 'parent_pipeline';
  requireVariables(variables, isChild || maySetVariables(projectSettings(subject.row), subject.role));

  if (text === undefined) throw refuse('Missing CI config file');
  const ofMergeRequests = await mergeRequestVariables(creator, request, target);
  const values = {
    sha: commit.oid,
    ref: request.mergeRequest ? `refs/merge-requests/${request.mergeRequest.iid}/head` : request.ref,
    tag: kind === 'tag',
    // A merge request fares by its own pipelines, and these by their children.
    merge_request_id: isChild ? null : (request.mergeRequest?.id ?? null),
    merge_request_variables: ofMergeRequests,
    source: request.source,
    before_sha: request.beforeSha ?? NO_OBJECT,
    protected: right.isProtected,
    user_id: actor.id,
    fact_id: request.factId ?? null,
    trigger_id: request.trigger?.id ?? null,
    schedule_id: request.schedule?.id ?? null,
    scheduled_for: request.schedule?.due ?? null,
    source_job_id: request.bridge?.job_id ?? null,
    token_job_id: request.tokenJob?.job_id ?? null,
    source_pipeline_id: (request.bridge ?? request.tokenJob)?.pipeline_id ?? null,
  };
  if (isFollowing && (request.skip || asksToSkip(commit.message)))
    return savePipeline(creator, { ...values, status: 'skipped' }, undefined, variables);

  const compilation = await compileRequest(creator, request, target, right, text, ofMergeRequests);
  const outcome = await compileFile(compilation, `user:${actor.id}`);
  return save(creator, values, outcome, variables);
}

function requireVariables(variables: readonly PipelineVariable[], may: boolean): void {
  if (variables.length === 0) return;
  if (!may) throw refuse('Insufficient permissions to set pipeline variables');
  const twice = doubled(variables.map(({ key }) => key));
  if (twice.length > 0)
    throw refuse(`Duplicate variable name${twice.length > 1 ? 's' : ''}: ${twice.join(', ')}`);
}

type Values = Parameters<typeof insertPipeline>[2] & Pick<PipelineRow, 'fact_id'>;

/** What the file came to, as rows; of a push that it leaves out there is nothing. */
async function save(
  creator: Creator,
  values: Values,
  outcome: CompiledOutcome,
  variables: readonly PipelineVariable[],
): Promise<PipelineRow | undefined> {
  const isFollowing = values.fact_id != null;
  if (isFollowing && outcome.kind === 'filtered') return undefined;
  const errors = problemsOf(outcome);
  const compiled = errors.length === 0 && outcome.kind === 'planned' ? outcome.pipeline : undefined;
  const refusal = compiled
    ? await sizeRefusal(creator, compiled.jobCount)
    : { reason: 'config_error', texts: errors };
  if (refusal || !compiled) {
    const { reason, texts } = refusal ?? { reason: 'config_error', texts: errors };
    const isUnattended = values.source === 'schedule' || values.source_job_id != null;
    const isKept = isFollowing || (isUnattended && outcome.kind !== 'filtered');
    if (!isKept) throw refuse(...texts);
    const failed = {
      status: 'failed',
      failure_reason: reason,
      yaml_errors: texts.slice(0, MAX_KEPT_PROBLEMS).join('\n'),
    };
    return savePipeline(creator, { ...values, ...failed }, undefined, variables);
  }
  const { name, autoCancel } = compiled;
  const planned = { name, on_new_commit: autoCancel.onNewCommit, on_job_failure: autoCancel.onJobFailure };
  return savePipeline(creator, { ...values, ...planned }, compiled, variables);
}

type Refusal = { reason: string; texts: readonly string[] };

/** Why a pipeline of so many jobs may not be, by the limits of the plan; undefined where it may. */
async function sizeRefusal({ services, subject }: Creator, jobs: number): Promise<Refusal | undefined> {
  const { limits } = await services.instance.read();
  const most = limitOf(limits, 'ci_pipeline_size');
  if (jobs > most) {
    const text = `Pipeline has too many jobs! Requested ${jobs}, but the limit is ${most}.`;
    return { reason: 'size_limit_exceeded', texts: [text] };
  }
  const mostActive = limitOf(limits, 'ci_active_jobs');
  if (mostActive === Number.POSITIVE_INFINITY) return undefined;
  if ((await countActiveJobs(services.database.db, subject, mostActive)) + jobs <= mostActive)
    return undefined;
  const text = 'Project exceeded the allowed number of jobs in active pipelines. Retry later.';
  return { reason: 'job_activity_limit_exceeded', texts: [text] };
}

/** What a pipeline leads to has grown as far as it may. */
export class FullHierarchy extends Failure {
  constructor() {
    super('bad_request', { base: ['The downstream pipeline tree is too large'] });
  }
}

/** Of all that one pipeline led to, one is made after the other: many at once would all be the last that has room. */
async function requireRoom(tx: Db, sourceId: number, most: number): Promise<void> {
  const ancestry = await selectAncestry(tx, sourceId);
  const place = `hierarchy ${ancestry.at(-1)?.id}`;
  await sql`select pg_advisory_xact_lock(hashtextextended(${place}, 0))`.execute(ahead(tx));
  if ((await countHierarchy(tx, ancestry, most)) >= most) throw new FullHierarchy();
}

/** Undefined where the fact, the time of the schedule or the job that starts it has its pipeline already. */
async function savePipeline(
  { services, actor, subject }: Creator,
  values: Values,
  compiled: CompiledJobs | undefined,
  variables: readonly PipelineVariable[],
): Promise<PipelineRow | undefined> {
  const most = limitOf((await services.instance.read()).limits, 'pipeline_hierarchy_size');
  return inTransaction(services.database.db, async (tx) => {
    if (values.source_job_id)
      await sql`select pg_advisory_xact_lock(hashtextextended(${`bridge ${values.source_job_id}`}, 0))`.execute(
        ahead(tx),
      );
    if ((values.fact_id || values.scheduled_for || values.source_job_id) && (await isMade(tx, values)))
      return undefined;
    if (values.source_pipeline_id) await requireRoom(tx, values.source_pipeline_id, most);
    const pipeline = await insertPipeline(tx, subject, values);
    if (variables.length > 0)
      await ahead(tx)
        .insertInto('pipeline_variables')
        .values(
          variables.map(({ key, value, variable_type = 'env_var', raw = false }) => ({
            pipeline_id: pipeline.id,
            key,
            value_sealed: seal(services.secretKey, value),
            variable_type,
            raw,
          })),
        )
        .execute();
    if (!compiled) {
      // It is over as it begins.
      await sql`with made as (select * from pipelines where id = ${pipeline.id}) ${announcePipelines('made')}`.execute(
        ahead(tx),
      );
      return pipeline;
    }
    await insertJobs(tx, { services, actor, subject }, pipeline, compiled);
    const { auto_cancel_pending_pipelines } = projectSettings(subject.row);
    if (auto_cancel_pending_pipelines === 'enabled' && values.source !== 'parent_pipeline')
      await cancelRedundant(tx, pipeline);
    return processPipeline(tx, pipeline);
  });
}

async function isMade(
  tx: Db,
  { fact_id, ref, tag, schedule_id, scheduled_for, source_job_id }: Values,
): Promise<boolean> {
  const made = tx.selectFrom('pipelines').select('id');
  if (source_job_id) return !!(await made.where('source_job_id', '=', source_job_id).executeTakeFirst());
  const same = scheduled_for
    ? made.where('schedule_id', '=', schedule_id ?? 0).where('scheduled_for', '=', scheduled_for)
    : made
        .where('fact_id', '=', fact_id ?? 0)
        .where('ref', '=', ref)
        .where('tag', '=', tag);
  return (await same.executeTakeFirst()) !== undefined;
}
