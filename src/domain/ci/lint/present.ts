/** What is said of configuration files, as records. Pure. */
import type { Static } from 'typebox';
import type { IncludedFile } from '../file/includes/include.ts';
import type { StaticJob } from '../file/seeding/static-jobs.ts';
import type { LintResult } from './schema.ts';

export type LintOutcome = {
  errors: readonly string[];
  warnings: readonly string[];
  mergedYaml: string | null;
  includes: readonly IncludedFile[];
  /** Those that are shown. */
  jobs: readonly StaticJob[];
  jobCount: number;
};

export function presentLint(
  baseUrl: string,
  { errors, warnings, mergedYaml, includes, jobs, jobCount }: LintOutcome,
  withJobs: boolean,
): Static<typeof LintResult> {
  const cut = withJobs && jobs.length < jobCount;
  return {
    valid: errors.length === 0,
    errors: [...errors],
    warnings: [...warnings, ...(cut ? [`Only the first ${jobs.length} of ${jobCount} jobs are shown`] : [])],
    merged_yaml: mergedYaml,
    includes: includes.map((file) => presentInclude(baseUrl, file)),
    ...(withJobs && { jobs: jobs.map(presentJob) }),
  };
}

function presentInclude(baseUrl: string, { type, location, extra, context, at }: IncludedFile) {
  const isOfProject = at !== null && (type === 'local' || type === 'file');
  const address = (view: 'blob' | 'raw') =>
    isOfProject
      ? `${baseUrl}/${at.project}/-/${view}/${at.sha}/${location.split('/').map(encodeURIComponent).join('/')}`
      : null;
  return {
    type,
    location,
    blob: address('blob'),
    raw: type === 'remote' ? location : address('raw'),
    extra,
    context_project: context?.project ?? null,
    context_sha: context?.sha ?? null,
  };
}

const presentJob = (job: StaticJob) => ({
  name: job.name,
  stage: job.stage,
  before_script: job.beforeScript,
  script: job.script,
  after_script: job.afterScript,
  tag_list: job.tags,
  only: job.only,
  except: job.except,
  environment: job.environment,
  when: job.when,
  allow_failure: job.allowFailure,
  needs: job.needs,
});
