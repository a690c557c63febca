/** What a job has to run with, whether a runner runs it or it starts another pipeline. */
import type { AuthorizedProject } from '../../../kernel/access/find.ts';
import { version } from '../../../package.ts';
import type { Commit } from '../../../platform/git/parse.ts';
import { readTagMessage } from '../../../platform/git/refs.ts';
import { unseal } from '../../../platform/secret.ts';
import { publishedAt, readRepository } from '../../repositories/index.ts';
import { type CreationServices, configPathOf, type PipelineVariable } from '../creation/compile-request.ts';
import { predefinedVariables } from '../creation/predefined.ts';
import { selectGiven, selectKeptVariables, selectStarter, selectUpstream } from '../creation/queries.ts';
import { selectEnvironmentOf } from '../environments/of-job-actions.ts';
import { isInScope } from '../environments/rules.ts';
import type { ContextVariable } from '../file/context.ts';
import type { PlannedJob } from '../file/plan.ts';
import { selectFrozen } from '../freeze-periods/queries.ts';
import { refOfPipeline, variablesOfMergeRequests } from '../pipelines/refs.ts';
import type { JobRow, PipelineRow } from '../processing/process-actions.ts';
import { type Dependency, selectDependencies } from './artifact-queries.ts';
import type { JobFacts } from './payload.ts';

type Of = {
  job: JobRow;
  planned: PlannedJob;
  pipeline: PipelineRow;
  project: AuthorizedProject;
  commit: Commit;
};

export type JobSources = Pick<JobFacts, 'environment' | 'predefined' | 'overriding' | 'hasProxy'> & {
  /** Those that the pipeline was started with, which are among the overriding ones. */
  given: readonly PipelineVariable[];
  user: Awaited<ReturnType<typeof selectStarter>>;
  /** What other jobs of the pipeline left. */
  left: readonly Dependency[];
};

/** The variables that a job has but for its own, and what earlier jobs left. */
export async function readSources(
  services: CreationServices,
  { job, planned, pipeline, project, commit }: Of,
): Promise<JobSources> {
  const { db } = services.database;
  const starter = pipeline.source_job_id ?? pipeline.token_job_id;
  const { dependency_proxy_enabled: hasProxy, keep_latest_artifact } = await services.settings.read();
  const [rows, published, tagMessage] = await Promise.all([
    // They travel together: a write of the socket costs as much as such a statement.
    db
      .connection()
      .execute((one) =>
        Promise.all([
          selectStarter(one, job.user_id),
          selectKeptVariables(one, project.row, pipeline.protected, services.secretKey),
          selectGiven(one, pipeline.id),
          selectEnvironmentOf(one, job),
          selectFrozen(one, project),
          selectDependencies(one, job, keep_latest_artifact),
          starter === null ? undefined : selectUpstream(one, starter),
        ]),
      ),
    publishedAt({ db, services }, project, pipeline.tag ? [pipeline.ref] : []),
    pipeline.tag && readRepository(services, project, (git) => readTagMessage(git, pipeline.ref)),
  ]);
  const [user, kept, givenRows, environment, frozen, left, upstream] = rows;
  const given = readGiven(services, givenRows);
  const predefined = predefinedVariables({
    baseUrl: services.baseUrl(),
    apiVersion: version.api,
    revision: version.revision,
    project: { ...project.row, fullPath: project.fullPath },
    configPath: configPathOf(project),
    commit,
    ...refOfPipeline(pipeline),
    tagMessage: tagMessage || null,
    release: published.get(pipeline.ref),
    protected: pipeline.protected,
    beforeSha: pipeline.before_sha,
    source: pipeline.source,
    createdAt: pipeline.created_at,
    user,
    upstream,
    ofMergeRequests: variablesOfMergeRequests(pipeline),
    frozen,
    hasProxy,
  });
  return {
    environment,
    predefined,
    hasProxy,
    given,
    user,
    left,
    overriding: [
      ...kept.filter(({ environmentScope }) => isInScope(planned.environment?.name, environmentScope)),
      ...given.map(({ variable_type, ...variable }) => ({ ...variable, file: variable_type === 'file' })),
      // Those of who started the job by hand.
      ...(job.played_sealed === null
        ? []
        : (JSON.parse(unseal(services.secretKey, job.played_sealed)) as ContextVariable[])),
    ],
  };
}

const readGiven = (
  { secretKey }: Pick<CreationServices, 'secretKey'>,
  rows: Awaited<ReturnType<typeof selectGiven>>,
): PipelineVariable[] =>
  rows.map(({ key, value_sealed, variable_type, raw }) => ({
    key,
    value: unseal(secretKey, value_sealed),
    // The column has a check of the same values.
    variable_type: variable_type as PipelineVariable['variable_type'],
    raw,
  }));

/** The variables that earlier jobs left. */
export const dotenvOf = (
  { secretKey }: Pick<CreationServices, 'secretKey'>,
  dependencies: readonly Dependency[],
): ContextVariable[] =>
  dependencies.flatMap(({ dotenv_sealed }) =>
    dotenv_sealed === null ? [] : (JSON.parse(unseal(secretKey, dotenv_sealed)) as ContextVariable[]),
  );
