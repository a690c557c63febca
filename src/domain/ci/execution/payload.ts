/** What a runner is told of a job that it has taken (facts for CI: Job response JSON). Pure. */
import { JOB_USER } from '../../../kernel/identity/token-visitor.ts';
import { serverOf, slugOf } from '../creation/predefined.ts';
import type { ContextVariable } from '../file/context.ts';
import { expandForRunner } from '../file/expansion.ts';
import type { PlannedArtifacts, PlannedCache, PlannedJob, PlannedService } from '../file/plan.ts';
import type { SentSecret } from '../identity-tokens/vault-secrets.ts';
import { type GivenInputs, sentInputs } from '../jobs/job-inputs.ts';
import { isOfMergeRequest } from '../pipelines/refs.ts';
import type { JobRow, PipelineRow } from '../processing/process-actions.ts';
import type { Dependency } from './artifact-queries.ts';
import { artifactTypes } from './artifact-types.ts';
import { releaseScript } from './release-step.ts';
import { failureReasons, groupName } from './rules.ts';

/** A variable as the protocol has it; `file` and `raw` are there where they are true. */
type SentVariable = {
  key: string;
  value: string;
  public: boolean;
  masked: boolean;
  file?: true;
  raw?: true;
};

export type JobFacts = {
  baseUrl: string;
  job: JobRow;
  planned: PlannedJob;
  pipeline: PipelineRow;
  token: string;
  project: {
    id: number;
    name: string;
    fullPath: string;
    namespaceId: number;
    rootId: number;
    gitDepth: number;
    fetches: boolean;
    separatedCaches: boolean;
  };
  /** That of the job. */
  environment: { id: number; slug: string; tier: string; external_url: string | null } | undefined;
  runner: { id: number; description: string | null; tags: readonly string[]; isShared: boolean };
  /** Groups keep images of another registry. */
  hasProxy: boolean;
  /** Those that every job of the pipeline has. */
  predefined: readonly ContextVariable[];
  /** Tokens that say who the job is. */
  identities: readonly { key: string; value: string }[];
  /** Those that the runner fetches by such a token. */
  secrets: { [name: string]: SentSecret };
  /** Those that earlier jobs left for it. */
  handedOn: readonly ContextVariable[];
  /** Those of instance, groups and project, then those that the pipeline was started with, then those of the job. */
  overriding: readonly ContextVariable[];
  /** Of its caches, in their order. */
  cacheKeys: readonly string[];
  /** The jobs whose artifacts it gets. */
  dependencies: readonly Pick<Dependency, 'id' | 'name' | 'filename' | 'size'>[];
};

const sent = ({ key, value, raw, file, masked }: ContextVariable, isPublic: boolean): SentVariable => ({
  key,
  value,
  public: isPublic,
  masked: masked ?? false,
  ...(file && { file: true }),
  ...(raw && { raw: true }),
});

export type OwnFacts = Pick<JobFacts, 'baseUrl' | 'job' | 'planned' | 'pipeline' | 'environment'> & {
  project: Pick<JobFacts['project'], 'fullPath'>;
};

/** What a job is told of itself, whether a runner runs it or not. */
export function ownVariables(facts: OwnFacts): ContextVariable[] {
  const { baseUrl, job, planned, pipeline, project } = facts;
  const home = `${baseUrl}/${project.fullPath}`;
  return present({
    CI_PIPELINE_ID: String(pipeline.id),
    CI_PIPELINE_IID: String(pipeline.iid),
    CI_PIPELINE_URL: `${home}/-/pipelines/${pipeline.id}`,
    CI_PIPELINE_NAME: pipeline.name ?? undefined,
    CI_JOB_ID: String(job.id),
    CI_JOB_URL: `${home}/-/jobs/${job.id}`,
    CI_JOB_STARTED_AT: job.started_at?.toISOString(),
    CI_JOB_NAME: job.name,
    CI_JOB_NAME_SLUG: slugOf(job.name),
    CI_JOB_GROUP_NAME: groupName(job.name),
    CI_JOB_STAGE: job.stage,
    CI_JOB_MANUAL: job.runs_when === 'manual' || job.runs_when === 'delayed' ? 'true' : undefined,
    CI_NODE_INDEX: planned.parallel ? String(planned.parallel.index) : undefined,
    CI_NODE_TOTAL: String(planned.parallel?.total ?? 1),
    CI_ENVIRONMENT_NAME: planned.environment?.name,
    CI_ENVIRONMENT_ID: facts.environment && String(facts.environment.id),
    CI_ENVIRONMENT_SLUG: facts.environment?.slug,
    CI_ENVIRONMENT_TIER: planned.environment?.deploymentTier ?? facts.environment?.tier,
    CI_ENVIRONMENT_ACTION: planned.environment?.action,
    CI_ENVIRONMENT_URL: planned.environment?.url ?? facts.environment?.external_url ?? undefined,
  });
}

const present = (values: Record<string, string | undefined>): ContextVariable[] =>
  Object.entries(values).flatMap(([key, value]) => (value === undefined ? [] : [{ key, value }]));

/** Later ones win; the runner takes the last of a name. Undefined where they are too long. */
export function jobVariables(facts: JobFacts): SentVariable[] | undefined {
  const { planned, token, runner } = facts;
  const open = [
    ...ownVariables(facts),
    ...present({
      CI_RUNNER_ID: String(runner.id),
      CI_RUNNER_DESCRIPTION: runner.description ?? '',
      CI_RUNNER_TAGS: JSON.stringify(runner.tags).replaceAll('","', '", "'),
    }),
  ];
  const secret = (key: string, value: string, masked: boolean): SentVariable => ({
    key,
    value,
    public: false,
    masked,
  });
  const all: SentVariable[] = [
    ...facts.predefined.map((variable) => sent(variable, true)),
    ...open.map((variable) => sent(variable, true)),
    secret('CI_JOB_TOKEN', token, true),
    secret('CI_REGISTRY_USER', JOB_USER, false),
    secret('CI_REGISTRY_PASSWORD', token, true),
    ...(facts.hasProxy
      ? [
          secret('CI_DEPENDENCY_PROXY_USER', JOB_USER, false),
          secret('CI_DEPENDENCY_PROXY_PASSWORD', token, true),
        ]
      : []),
    secret('CI_REPOSITORY_URL', repositoryUrl(facts), false),
    ...facts.identities.map(({ key, value }) => ({ ...secret(key, value, true), raw: true as const })),
    ...planned.variables.map(({ key, value, raw }) => sent({ key, value, raw }, true)),
    ...facts.handedOn.map((variable) => sent(variable, false)),
    ...facts.overriding.map((variable) => sent(variable, false)),
  ];
  return expandForRunner(all);
}

function repositoryUrl({ baseUrl, token, project }: JobFacts): string {
  const url = new URL(`${baseUrl}/${project.fullPath}.git`);
  url.username = JOB_USER;
  url.password = token;
  return url.href;
}

/** For images of this server: the registry's, by its host, and the dependency proxy's, whose images name the port, too. */
function credentialsOf({ baseUrl, token, hasProxy }: JobFacts) {
  const servers = new Set([new URL(baseUrl).host, ...(hasProxy ? [serverOf(baseUrl)] : [])]);
  return [...servers].map((url) => ({ type: 'registry', url, username: JOB_USER, password: token }));
}

const cacheOf = ({ fallbackKeys, ...cache }: PlannedCache, key: string | undefined, suffix: string) => ({
  key: `${key}${suffix}`,
  untracked: cache.untracked,
  paths: cache.paths,
  policy: cache.policy,
  when: cache.when,
  fallback_keys: fallbackKeys.map((each) => `${each}${suffix}`),
});

const serviceOf = ({
  name,
  alias,
  command,
  entrypoint,
  pullPolicy,
  executorOptions,
  variables,
}: PlannedService) => ({
  name,
  alias,
  command,
  entrypoint,
  ports: [],
  pull_policy: pullPolicy,
  executor_opts: executorOptions,
  variables: variables.map((variable) => sent(variable, true)),
});

/** What the runner is asked for: the archive first, then each report. */
function artifactsOf(planned: PlannedArtifacts | null) {
  if (!planned) return [];
  const { name, paths, exclude, untracked, when, expireIn, reports, coverageFormat } = planned;
  const shared = { expire_in: expireIn };
  const archive = { name, untracked, paths, exclude, when, artifact_type: 'archive', artifact_format: 'zip' };
  return [
    ...(paths.length > 0 || untracked ? [{ ...archive, ...shared }] : []),
    ...Object.entries(reports).flatMap(([key, files]) => {
      const type = key === 'coverage_report' ? (coverageFormat ?? '') : key;
      const { filename, format } = artifactTypes.get(type) ?? {};
      return filename === undefined
        ? []
        : [
            {
              name: filename,
              paths: files,
              when: 'always',
              artifact_type: type,
              artifact_format: format,
              ...shared,
            },
          ];
    }),
  ];
}

const ON_SUCCESS = { when: 'on_success', allow_failure: false } as const;
const AFTER_SCRIPT = { when: 'always', allow_failure: true } as const;

/** Beside its commit: the whole history's refs, or the pipeline's own. */
function refspecsOf(pipeline: PipelineRow, depth: number): string[] {
  const { ref, tag } = pipeline;
  if (depth === 0) return ['+refs/heads/*:refs/remotes/origin/*', '+refs/tags/*:refs/tags/*'];
  if (isOfMergeRequest(pipeline)) return [];
  return tag ? [`+refs/tags/${ref}:refs/tags/${ref}`] : [`+refs/heads/${ref}:refs/remotes/origin/${ref}`];
}

/** The body of the answer that gives the job to the runner; undefined where its variables are too long. */
export function jobPayload(facts: JobFacts) {
  const { job, planned, pipeline, token, project, runner } = facts;
  const variables = jobVariables(facts);
  if (!variables) return undefined;
  const timeout = job.timeout ?? 3_600;
  const depth = Number(variables.findLast(({ key }) => key === 'GIT_DEPTH')?.value ?? project.gitDepth);
  const suffix = (unprotect: boolean): string =>
    project.separatedCaches ? (pipeline.protected && !unprotect ? '-protected' : '-non_protected') : '';
  return {
    id: job.id,
    token,
    allow_git_fetch: project.fetches,
    job_info: {
      id: job.id,
      name: job.name,
      stage: job.stage,
      pipeline_id: pipeline.id,
      project_id: project.id,
      project_name: project.name,
      project_full_path: project.fullPath,
      namespace_id: project.namespaceId,
      root_namespace_id: project.rootId,
      organization_id: 1,
      user_id: job.user_id,
      time_in_queue_seconds:
        job.queued_at && job.started_at ? (job.started_at.getTime() - job.queued_at.getTime()) / 1_000 : 0,
      project_jobs_running_on_instance_runners_count: runner.isShared ? '0' : '+Inf',
    },
    git_info: {
      repo_url: repositoryUrl(facts),
      ref: pipeline.ref,
      sha: pipeline.sha,
      before_sha: pipeline.before_sha,
      ref_type: pipeline.tag ? 'tag' : 'branch',
      // The commit itself is fetched: the ref may have moved on.
      refspecs: [`+${pipeline.sha}:refs/pipelines/${pipeline.id}`, ...refspecsOf(pipeline, depth)],
      depth,
      repo_object_format: 'sha1',
      protected: pipeline.protected,
    },
    runner_info: { timeout, runner_session_url: null },
    inputs: sentInputs(planned.inputs, job.inputs as GivenInputs | null),
    variables,
    ...(planned.secrets !== null && { secrets: facts.secrets }),
    // Without any it must be absent: the runner reads no null.
    ...(planned.run !== null && { run: JSON.stringify(planned.run) }),
    steps: [
      ...(planned.run === null
        ? [
            {
              name: 'script',
              script: [...planned.beforeScript, ...planned.script],
              timeout,
              ...ON_SUCCESS,
            },
          ]
        : []),
      ...(planned.release
        ? [{ name: 'release', script: [releaseScript(planned.release)], timeout, ...ON_SUCCESS }]
        : []),
      ...(planned.afterScript.length > 0
        ? [{ name: 'after_script', script: planned.afterScript, timeout, ...AFTER_SCRIPT }]
        : []),
    ],
    hooks:
      planned.hooks.preGetSourcesScript.length > 0
        ? [{ name: 'pre_get_sources_script', script: planned.hooks.preGetSourcesScript }]
        : [],
    image: planned.image && {
      name: planned.image.name,
      entrypoint: planned.image.entrypoint,
      ports: [],
      pull_policy: planned.image.pullPolicy,
      executor_opts: planned.image.executorOptions,
    },
    services: planned.services.map(serviceOf),
    artifacts: artifactsOf(planned.artifacts),
    cache: planned.cache.map((cache, at) => cacheOf(cache, facts.cacheKeys[at], suffix(cache.unprotect))),
    credentials: credentialsOf(facts),
    dependencies: facts.dependencies.flatMap(({ id, name, filename, size }) =>
      filename === null ? [] : [{ id, name, token, artifacts_file: { filename, size } }],
    ),
    features: {
      trace_sections: true,
      token_mask_prefixes: ['glpat-', 'glcbt-'],
      failure_reasons: failureReasons,
    },
  };
}
