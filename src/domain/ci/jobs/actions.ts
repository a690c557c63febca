/** Cancels jobs, retries and plays them; the pipeline goes on in the same transaction. */
import { sql } from 'kysely';
import type { AuthorizedProject } from '../../../kernel/access/find.ts';
import type { Actor } from '../../../kernel/actor.ts';
import { found } from '../../../kernel/api/endpoint.ts';
import { projectSettings } from '../../../kernel/namespaces/project-settings.ts';
import type { Needs } from '../../../kernel/services.ts';
import { now } from '../../../platform/clock.ts';
import { ahead, type Db, inTransaction } from '../../../platform/db/database.ts';
import { badRequest, forbidden } from '../../../platform/failure.ts';
import { seal } from '../../../platform/secret.ts';
import type { ContextVariable } from '../file/context.ts';
import type { PlannedJob } from '../file/plan.ts';
import { type RegexCompiler, regexCompiler } from '../file/rules/regex.ts';
import { lockPipeline } from '../pipelines/queries.ts';
import { requireRunnable } from '../pipelines/ref-rights.ts';
import { cancelJobs, replaceJobs, resetSkipped } from '../processing/change-actions.ts';
import { isOutdated } from '../processing/deployment-actions.ts';
import { changeJobs } from '../processing/fact-actions.ts';
import { type JobRow, type PipelineRow, processPipeline } from '../processing/process-actions.ts';
import { isCancelable, type Status } from '../processing/status.ts';
import { selectMissing } from '../protected-environments/approval-queries.ts';
import { requireDeployerTo, selectGuarded } from '../protected-environments/deployer-queries.ts';
import { maySetVariables } from '../variables/rules.ts';
import { type GivenInputs, mergeGiven } from './job-inputs.ts';
import { selectJob } from './queries.ts';
import { isPlayable, isRetryable } from './rules.ts';

type Context = {
  services: Needs<'database' | 'config' | 'settings'>;
  actor: Actor;
  subject: AuthorizedProject;
};

/** The pipeline's lock first, then the row as it is under it. */
export async function lockJob(
  tx: Db,
  project: AuthorizedProject,
  id: number,
  kind: 'job' | 'any' = 'job',
): Promise<{ pipeline: PipelineRow; job: JobRow & { status: Status; outdated: boolean } }> {
  const { pipeline_id } = found(await selectJob(tx, project, id, kind), 'Job');
  const pipeline = found(await lockPipeline(tx, project, pipeline_id), 'Job');
  const job = found(
    await tx
      .selectFrom('ci_jobs')
      .selectAll()
      .select(isOutdated.as('outdated'))
      .where('id', '=', id)
      .executeTakeFirst(),
    'Job',
  );
  return { pipeline, job: { ...job, status: job.status as Status } };
}

/** One that has ended stays as it is. */
export const cancelJob = ({ services, subject }: Context, id: number): Promise<void> =>
  inTransaction(services.database.db, async (tx) => {
    const { pipeline, job } = await lockJob(tx, subject, id);
    if (!isCancelable(job.status)) return;
    await cancelJobs(tx, pipeline, [id]);
    await processPipeline(tx, pipeline);
  });

/** What who starts a job gives it. */
type Given = {
  /** Its variables, sealed. */
  played?: string | undefined;
  inputs?: GivenInputs | undefined;
};

/** Sends jobs to the runners that somebody started by hand, whatever came before them. */
async function enqueue(
  tx: Db,
  actor: Pick<Actor, 'id'>,
  id: number,
  { played, inputs }: Given = {},
): Promise<void> {
  const time = now();
  const change = tx
    .updateTable('ci_jobs')
    .set((eb) => ({
      // The next step gives it what it waits for, where that is free.
      status: eb
        .case()
        .when('resource_group_id', 'is', null)
        .then('pending')
        .else('waiting_for_resource')
        .end(),
      queued_at: time,
      scheduled_at: null,
      updated_at: time,
      user_id: actor.id,
      ...(played !== undefined && { played_sealed: played }),
      ...(inputs !== undefined && { inputs: sql<never>`${JSON.stringify(inputs)}::text::jsonb` }),
    }))
    .where('id', '=', id)
    .returningAll();
  await changeJobs(tx, sql`${change}`);
}

/** Runs a job that has ended once more, as a new one; returns its id. 403 where it has not ended. */
export async function retryJob(
  { services, actor, subject }: Context,
  id: number,
  given?: GivenInputs,
): Promise<number> {
  const compile = await regexCompiler();
  return inTransaction(services.database.db, async (tx) => {
    const { pipeline, job } = await lockJob(tx, subject, id, 'any');
    if (!isRetryable(job)) throw forbidden('Job is not retryable');
    const inputs = given && mergedInputs(job, given, compile);
    await requireRunnable(tx, { services, actor, subject }, pipeline);
    await requireDeployerTo(tx, { services, actor, subject }, job);
    const { asking } = await selectGuarded(tx, { services, actor, subject }, pipeline.id);
    const [next = id] = await replaceJobs(tx, pipeline, actor, sql`id = ${id}`, asking);
    if (inputs)
      await sql`update ci_jobs set inputs = ${JSON.stringify(inputs)}::text::jsonb where id = ${next}`.execute(
        ahead(tx),
      );
    await resetSkipped(tx, pipeline, job.stage_index);
    // What waits for somebody has somebody now, but for approvals.
    const waits = job.needs_approval || asking.includes(job.environment_id ?? 0);
    if (!waits && (job.runs_when === 'manual' || job.runs_when === 'delayed')) await enqueue(tx, actor, next);
    await processPipeline(tx, pipeline);
    return next;
  });
}

/** 400 for what the file of the job does not take. */
const mergedInputs = (
  { options, inputs }: Pick<JobRow, 'options' | 'inputs'>,
  given: GivenInputs,
  compile: RegexCompiler,
): GivenInputs =>
  mergeGiven(
    (options as unknown as Partial<PlannedJob>).inputs ?? null,
    inputs as GivenInputs | null,
    given,
    compile,
  );

/**
 * Starts a job that waits for somebody or for a time, with variables of its own where some are given. 400 for others, for one that
 * would deploy what is older, and for one whose deployment is not approved; 403 for variables from who may give a pipeline none.
 */
export async function playJob(
  { services, actor, subject }: Context & { services: Needs<'secretKey'> },
  id: number,
  {
    variables = [],
    inputs,
  }: {
    variables?: readonly Pick<ContextVariable, 'key' | 'value'>[] | undefined;
    inputs?: GivenInputs | undefined;
  } = {},
): Promise<void> {
  const compile = await regexCompiler();
  return inTransaction(services.database.db, async (tx) => {
    const { pipeline, job } = await lockJob(tx, subject, id, 'any');
    if (!isPlayable(job.status) || job.outdated) throw badRequest('Unplayable Job');
    if (variables.length > 0 && !maySetVariables(projectSettings(subject.row), subject.role))
      throw forbidden();
    await requireRunnable(tx, { services, actor, subject }, pipeline);
    await requireDeployerTo(tx, { services, actor, subject }, job);
    // What prepares or uses an environment waits for somebody who may deploy there, and has nothing to approve.
    const { environment } = job.options as unknown as Partial<PlannedJob>;
    const deploys = environment?.action === 'start';
    if (deploys && (await selectMissing(tx, { services, subject }, job)) > 0)
      throw badRequest('Unplayable Job');
    const played = variables.length > 0 ? seal(services.secretKey, JSON.stringify(variables)) : undefined;
    await startJob(tx, actor, pipeline, job, {
      played,
      inputs: inputs && mergedInputs(job, inputs, compile),
    });
  });
}

/** Whether somebody may start the job by hand, as it is or once more. */
export const isStartable = (job: JobRow): boolean =>
  // The column has a check of the same values.
  isPlayable(job.status as Status) || isRetryable({ ...job, status: job.status as Status });

/** Starts one that is startable, under the lock of its pipeline; it keeps what it was `given`. */
export async function startJob(
  tx: Db,
  starter: Pick<Actor, 'id'>,
  pipeline: PipelineRow,
  job: JobRow,
  given?: Given,
): Promise<void> {
  const [id = job.id] = isPlayable(job.status as Status)
    ? []
    : await replaceJobs(tx, pipeline, starter, sql`id = ${job.id}`);
  await enqueue(tx, starter, id, given);
  await resetSkipped(tx, pipeline, job.stage_index);
  await processPipeline(tx, pipeline);
}
