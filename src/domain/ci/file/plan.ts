/**
 * What a configuration file comes to: the jobs that a pipeline will have, or why there is none. All of it is plain JSON; what
 * is expanded on the server, such as tags and names of environments, is expanded.
 */

export type Json = null | boolean | number | string | Json[] | { [key: string]: Json };

/** `raw`: nothing in the value is expanded. */
export type YamlVariable = { key: string; value: string; raw: boolean };

export type When = 'on_success' | 'on_failure' | 'always' | 'manual' | 'delayed';

/** A job that is waited for, by its full name. */
export type PlannedNeed = { name: string; artifacts: boolean; optional: boolean };

/** Jobs of other pipelines whose artifacts are fetched: of a parent, by its id, or of another project, by its path. */
export type ForeignNeed =
  | { kind: 'pipeline'; pipeline: string; job: string; artifacts: boolean }
  | { kind: 'project'; project: string; ref: string; job: string; artifacts: boolean };

/** `max` at most 2; without `when` and `exitCodes` the reason does not matter. */
export type PlannedRetry = { max: number; when: string[]; exitCodes: number[] };

/** The duration is in the words of the file; the address holds variables of the job that runs. */
export type PlannedEnvironment = {
  name: string;
  url: string | null;
  action: 'start' | 'prepare' | 'stop' | 'verify' | 'access';
  onStop: string | null;
  autoStopIn: string | null;
  deploymentTier: 'production' | 'staging' | 'testing' | 'development' | 'other' | null;
  kubernetes: Json;
};

export type PlannedImage = {
  name: string;
  entrypoint: string[] | null;
  pullPolicy: string[] | null;
  executorOptions: { [executor: string]: Json };
};

export type PlannedService = PlannedImage & {
  alias: string | null;
  command: string[] | null;
  variables: YamlVariable[];
};

/** Reports by type, with the paths of each; the coverage report has its format beside it. */
export type PlannedArtifacts = {
  name: string | null;
  paths: string[];
  exclude: string[];
  untracked: boolean;
  when: 'on_success' | 'on_failure' | 'always';
  expireIn: string | null;
  exposeAs: string | null;
  access: 'all' | 'developer' | 'maintainer' | 'none';
  reports: { [type: string]: string[] };
  coverageFormat: string | null;
};

export type PlannedCache = {
  /** A text, or the files whose contents or last commits make the key; a missing prefix is null. */
  key: string | { files: string[]; of: 'contents' | 'commits'; prefix: string | null };
  paths: string[];
  untracked: boolean;
  unprotect: boolean;
  /** `pull-push`, `pull`, `push`, or what a variable holds. */
  policy: string;
  when: 'on_success' | 'on_failure' | 'always';
  fallbackKeys: string[];
};

export type PlannedRelease = {
  tagName: string;
  tagMessage: string | null;
  name: string | null;
  description: string;
  ref: string | null;
  releasedAt: string | null;
  milestones: string[];
  links: { name: string; url: string; filepath: string | null; linkType: string | null }[];
};

export type PlannedTrigger = {
  /**
   * What is started: a pipeline of another project; one of the same project, by entries as `include:` has them; or nothing,
   * where the status of a pipeline of another project is mirrored.
   */
  target:
    | { kind: 'project'; project: string; branch: string | null }
    | { kind: 'child'; include: Json[] }
    | { kind: 'upstream'; project: string };
  strategy: 'depend' | 'mirror' | null;
  forward: { yamlVariables: boolean; pipelineVariables: boolean };
  inputs: { [name: string]: Json };
};

export type PlannedPages = { publish: string; pathPrefix: string | null; expireIn: string | null };

export type PlannedJob = {
  name: string;
  stage: string;
  stageIndex: number;
  kind: 'job' | 'bridge';
  when: When;
  /** Seconds; of delayed jobs alone. */
  startIn: number | null;
  manualConfirmation: string | null;
  allowFailure: boolean;
  /** The job may fail with these alone; `allowFailure` is false then. */
  allowFailureExitCodes: number[] | null;
  schedulingType: 'stage' | 'dag';
  needs: PlannedNeed[];
  foreignNeeds: ForeignNeed[];
  /** Full names; null: of all jobs that came before. */
  dependencies: string[] | null;
  tags: string[];
  interruptible: boolean;
  /** Seconds. */
  timeout: number | null;
  retry: PlannedRetry | null;
  /** In the syntax of RE2, without slashes. */
  coverage: string | null;
  environment: PlannedEnvironment | null;
  resourceGroup: string | null;
  parallel: { index: number; total: number } | null;
  /** Those of the job, and what it inherits, by the rules that matched. */
  variables: YamlVariable[];
  script: string[];
  beforeScript: string[];
  afterScript: string[];
  image: PlannedImage | null;
  services: PlannedService[];
  artifacts: PlannedArtifacts | null;
  cache: PlannedCache[];
  hooks: { preGetSourcesScript: string[] };
  idTokens: { [name: string]: { aud: string[] } };
  release: PlannedRelease | null;
  trigger: PlannedTrigger | null;
  pages: PlannedPages | null;
  /** As the file has them. */
  secrets: Json;
  inputs: Json;
  run: Json;
};

export type AutoCancel = {
  onNewCommit: 'conservative' | 'interruptible' | 'none';
  onJobFailure: 'none' | 'all';
};

export type PlannedPipeline = {
  name: string | null;
  /** Those that have jobs, in their order. */
  stages: string[];
  jobs: PlannedJob[];
  autoCancel: AutoCancel;
  /** Of the file's top level and the rule of the workflow that matched. */
  variables: YamlVariable[];
  warnings: string[];
};

export type Outcome =
  | { kind: 'planned'; pipeline: PlannedPipeline }
  | { kind: 'filtered'; by: 'workflow_rules' | 'rules' }
  | { kind: 'invalid'; errors: string[]; warnings: string[] };
