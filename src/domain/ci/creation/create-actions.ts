/** Makes pipelines from the configuration file of a commit (facts for CI: When pipelines are created). */
import { sql } from 'kysely';
import type { AuthorizedProject } from '../../../kernel/access/find.ts';
import type { Actor } from '../../../kernel/actor.ts';
import { projectSettings } from '../../../kernel/namespaces/project-settings.ts';
import type { Services } from '../../../kernel/services.ts';
import { version } from '../../../package.ts';
import { now } from '../../../platform/clock.ts';
import { ahead, type Db, inTransaction } from '../../../platform/db/database.ts';
import { invalid } from '../../../platform/failure.ts';
import { changedPaths } from '../../../platform/git/history/changed-files.ts';
import { fullRef, isRefName, NO_OBJECT } from '../../../platform/git/names.ts';
import type { Commit } from '../../../platform/git/parse.ts';
import { findCommit, peelToCommit } from '../../../platform/git/refs.ts';
import { seal } from '../../../platform/secret.ts';
import { guardRefs, readRepository } from '../../repositories/index.ts';
import { compile } from '../file/compile.ts';
import type { ContextVariable } from '../file/context.ts';
import type { Json, Outcome, PlannedJob } from '../file/plan.ts';
import { insertPipeline } from '../pipelines/insert-actions.ts';
import { type PipelineRow, processPipeline } from '../processing/process-actions.ts';
import { cancelRedundant } from '../processing/redundant-actions.ts';
import { createFiles } from './files.ts';
import { predefinedVariables } from './predefined.ts';
import { selectKeptVariables, selectStarter } from './queries.ts';
import { asksToSkip, doubled, maySetVariables } from './rules.ts';

export type CreationServices = Pick<
  Services,
  'config' | 'database' | 'settings' | 'repositories' | 'outbound' | 'secretKey' | 'baseUrl'
>;

export type PipelineVariable = { key: string; value: string; variable_type?: 'env_var' | 'file' | undefined };

export type PipelineRequest = {
  source: 'push' | 'api' | 'trigger' | 'schedule' | 'web';
  /** The name of a branch or tag; of both, the branch is meant. */
  ref: string;
  tag?: boolean;
  /** Where a push came from. */
  beforeSha?: string;
  /** The commit that was pushed; otherwise the ref's present one. */
  sha?: string;
  variables?: readonly PipelineVariable[];
  inputs?: Record<string, Json>;
  /** An option of the push asks for no jobs. */
  skip?: boolean;
  /** A push is heard more than once. */
  factId?: number;
  trigger?: { id: number; token: string };
  scheduleDescription?: string;
};

type Creator = { services: CreationServices; actor: Actor; subject: AuthorizedProject };

/** Why there is no pipeline, in the public API's words. */
const refuse = (...base: string[]): Error => invalid({ base });

const FILTERED = {
  workflow_rules: 'The pipeline did not run. Review the [workflow:rules] configuration for the pipeline.',
  rules:
    'The resulting pipeline would have been empty. Review the [rules] configuration for the relevant jobs.',
};
const DEFAULT_PATH = '.gitlab-ci.yml';

type Target = { commit: Commit; tag: boolean; tagMessage: string | null };

/** The commit of the request; undefined where there is none of that name. */
const findTarget = ({ services, subject }: Creator, request: PipelineRequest): Promise<Target | undefined> =>
  readRepository(services, subject, async (git) => {
    const branch = request.tag ? undefined : await peelToCommit(git, fullRef('branch', request.ref));
    const tag = branch ? undefined : await peelToCommit(git, fullRef('tag', request.ref));
    const found = branch ?? tag;
    const commit = request.sha === undefined ? found : await findCommit(git, request.sha);
    return found && commit && { commit, tag: branch === undefined, tagMessage: null };
  }).then((target) => target ?? undefined);

/**
 * Makes the pipeline, and its first jobs wait for runners. 400 without the ref, the file or the rights, and for a wrong file; of a
 * push, nothing is made then, but for a wrong file a pipeline that failed. Undefined where a push makes none.
 */
export async function createPipeline(
  creator: Creator,
  request: PipelineRequest,
): Promise<PipelineRow | undefined> {
  const { services, actor, subject } = creator;
  const isPush = request.source === 'push';
  const target = isRefName(request.ref) ? await findTarget(creator, request) : undefined;
  if (!target) throw refuse('Reference not found');
  const { commit, tag } = target;
  const guard = await guardRefs(services.database.db, subject, actor, await services.settings.read());
  const isProtected = tag ? guard.isProtectedTag(request.ref) : guard.isProtected(request.ref);
  const mayRun = tag
    ? guard.refusal({ ref: fullRef('tag', request.ref), before: NO_OBJECT, after: commit.oid }) === undefined
    : guard.mayPush(request.ref) || guard.mayMerge(request.ref);
  if (isProtected && !mayRun)
    throw refuse(
      `You do not have sufficient permission to run a pipeline on '${request.ref}'. Please select a different branch or contact your administrator for assistance.`,
    );
  const project = projectSettings(subject.row);
  const variables = request.variables ?? [];
  requireVariables(variables, maySetVariables(project, subject.role));

  const files = createFiles(services, actor, subject);
  const at = { project: subject.fullPath, sha: commit.oid };
  const configPath = project.ci_config_path || DEFAULT_PATH;
  const text = await files.read(configPath, at);
  if (text === undefined) {
    if (isPush) return undefined;
    throw refuse('Missing CI config file');
  }
  const values = {
    sha: commit.oid,
    ref: request.ref,
    tag,
    source: request.source,
    before_sha: request.beforeSha ?? NO_OBJECT,
    protected: isProtected,
    user_id: actor.id,
    fact_id: request.factId ?? null,
    trigger_id: request.trigger?.id ?? null,
  };
  if (isPush && (request.skip || asksToSkip(commit.message)))
    return savePipeline(creator, { ...values, status: 'skipped' }, [], variables);

  const createdAt = now();
  const predefined = predefinedVariables({
    baseUrl: services.baseUrl(),
    apiVersion: version.api,
    revision: version.revision,
    project: { ...subject.row, fullPath: subject.fullPath },
    configPath,
    commit,
    ref: request.ref,
    tag,
    tagMessage: target.tagMessage,
    protected: isProtected,
    beforeSha: values.before_sha,
    source: request.source,
    createdAt,
    user: await selectStarter(services.database.db, actor.id),
    triggerToken: request.trigger?.token,
    scheduleDescription: request.scheduleDescription,
  });
  const kept = await selectKeptVariables(services.database.db, subject.row, isProtected, services.secretKey);
  const { outcome } = await compile({
    text,
    ...(request.inputs && { inputs: request.inputs }),
    files,
    context: {
      at,
      source: request.source,
      ref: request.ref,
      refKind: tag ? 'tag' : 'branch',
      predefined,
      overriding: [
        ...kept.filter(({ environmentScope }) => environmentScope === '*'),
        ...variables.map(
          ({ key, value, variable_type }): ContextVariable => ({
            key,
            value,
            file: variable_type === 'file',
          }),
        ),
      ],
      changedPaths: (compareTo) =>
        pathsChanged(creator, commit, isPush ? values.before_sha : NO_OBJECT, compareTo),
    },
  });
  return save(creator, values, outcome, variables);
}

function requireVariables(variables: readonly PipelineVariable[], may: boolean): void {
  if (variables.length === 0) return;
  if (!may) throw refuse('Insufficient permissions to set pipeline variables');
  const twice = doubled(variables.map(({ key }) => key));
  if (twice.length > 0)
    throw refuse(`Duplicate variable name${twice.length > 1 ? 's' : ''}: ${twice.join(', ')}`);
}

/** Of a push, the paths that it changed; of other pipelines, there is nothing to compare with. */
async function pathsChanged(
  { services, subject }: Creator,
  commit: Commit,
  beforeSha: string,
  compareTo: string | null,
): Promise<readonly string[] | 'unknown' | 'no_ref'> {
  if (compareTo === null && beforeSha === NO_OBJECT) return 'unknown';
  const paths = await readRepository(services, subject, async (git) => {
    const base = await findCommit(git, compareTo ?? beforeSha);
    if (!base) return compareTo === null ? 'unknown' : 'no_ref';
    const [changed] = await changedPaths(git, [{ from: base.tree, to: commit.tree }]);
    return changed ? [...changed.added, ...changed.modified, ...changed.removed] : 'unknown';
  });
  return paths ?? 'unknown';
}

type Values = Parameters<typeof insertPipeline>[2];

/** What the file came to, as rows; of a push that it leaves out there is nothing. */
async function save(
  creator: Creator,
  values: Values,
  outcome: Outcome,
  variables: readonly PipelineVariable[],
): Promise<PipelineRow | undefined> {
  const isPush = values.source === 'push';
  if (outcome.kind === 'filtered') {
    if (isPush) return undefined;
    throw refuse(FILTERED[outcome.by]);
  }
  const bridge =
    outcome.kind === 'planned' ? outcome.pipeline.jobs.find(({ kind }) => kind === 'bridge') : undefined;
  const errors =
    outcome.kind === 'invalid'
      ? outcome.errors
      : bridge
        ? [`${bridge.name} job: jobs that start other pipelines are not supported here yet`]
        : [];
  if (errors.length > 0 || outcome.kind === 'invalid') {
    if (!isPush && values.source !== 'schedule') throw refuse(...errors);
    const failed = { status: 'failed', failure_reason: 'config_error', yaml_errors: errors.join('\n') };
    return savePipeline(creator, { ...values, ...failed }, [], variables);
  }
  const { name, jobs, autoCancel } = outcome.pipeline;
  const planned = { name, on_new_commit: autoCancel.onNewCommit, on_job_failure: autoCancel.onJobFailure };
  return savePipeline(creator, { ...values, ...planned }, jobs, variables);
}

/** Undefined where the push has its pipeline already. */
const savePipeline = (
  { services, actor, subject }: Creator,
  values: Values,
  jobs: readonly PlannedJob[],
  variables: readonly PipelineVariable[],
): Promise<PipelineRow | undefined> =>
  inTransaction(services.database.db, async (tx) => {
    if (values.fact_id && (await isMade(tx, values))) return undefined;
    const pipeline = await insertPipeline(tx, subject, values);
    if (variables.length > 0)
      await ahead(tx)
        .insertInto('pipeline_variables')
        .values(
          variables.map(({ key, value, variable_type = 'env_var' }) => ({
            pipeline_id: pipeline.id,
            key,
            value_sealed: seal(services.secretKey, value),
            variable_type,
          })),
        )
        .execute();
    if (jobs.length === 0) return pipeline;
    await insertJobs(tx, pipeline, actor, jobs);
    if (projectSettings(subject.row).auto_cancel_pending_pipelines === 'enabled')
      await cancelRedundant(tx, pipeline);
    return processPipeline(tx, pipeline);
  });

const isMade = async (tx: Db, { fact_id, ref, tag }: Values): Promise<boolean> =>
  (await tx
    .selectFrom('pipelines')
    .select('id')
    .where('fact_id', '=', fact_id ?? 0)
    .where('ref', '=', ref)
    .where('tag', '=', tag)
    .executeTakeFirst()) !== undefined;

/** All in one statement, in the order of the plan. */
async function insertJobs(
  tx: Db,
  pipeline: PipelineRow,
  actor: Actor,
  jobs: readonly PlannedJob[],
): Promise<void> {
  const rows = jobs.map((job) => ({
    name: job.name,
    kind: job.kind,
    stage: job.stage,
    stage_index: job.stageIndex,
    runs_when: job.when,
    allow_failure: job.allowFailure,
    needs: job.schedulingType === 'dag' ? job.needs.map(({ name }) => name) : null,
    tags: job.tags,
    interruptible: job.interruptible,
    options: job,
  }));
  const time = now();
  await sql`
    insert into ci_jobs (pipeline_id, project_id, kind, name, stage, stage_index, status, runs_when, allow_failure, needs, tags,
      protected, interruptible, options, user_id, created_at, updated_at)
    select ${pipeline.id}::bigint, ${pipeline.project_id}::bigint, j.kind, j.name, j.stage, j.stage_index, 'created', j.runs_when,
      j.allow_failure, j.needs, j.tags, ${pipeline.protected}::boolean, j.interruptible, j.options, ${actor.id}::bigint,
      ${time}::timestamptz, ${time}::timestamptz
    from rows from (jsonb_to_recordset(${JSON.stringify(rows)}::text::jsonb) as (name text, kind text, stage text, stage_index integer,
      runs_when text, allow_failure boolean, needs text[], tags text[], interruptible boolean, options jsonb)) with ordinality
      as j (name, kind, stage, stage_index, runs_when, allow_failure, needs, tags, interruptible, options, nth)
    order by j.nth`.execute(ahead(tx));
}
