/** What is said of configuration files, as records. Pure. */
import type { Static } from 'typebox';
import type { IncludedFile } from '../file/includes/include.ts';
import type { PlannedJob } from '../file/plan.ts';
import type { StaticJob } from '../file/seeding/static-jobs.ts';
import type { LintResult } from './schema.ts';

/** Characters of the texts of all jobs: 200 jobs of one script have it 200 times. */
const MAX_SHOWN_LENGTH = 4 * 1024 * 1024;

export type LintOutcome = {
  errors: readonly string[];
  warnings: readonly string[];
  mergedYaml: string | null;
  includes: readonly IncludedFile[];
  jobs: readonly StaticJob[];
};

export function presentLint(
  baseUrl: string,
  { errors, warnings, mergedYaml, includes, jobs }: LintOutcome,
  withJobs: boolean,
): Static<typeof LintResult> {
  const shown = withJobs ? jobsThatFit(jobs) : [];
  const cut = withJobs && shown.length < jobs.length;
  return {
    valid: errors.length === 0,
    errors: [...errors],
    warnings: [
      ...warnings,
      ...(cut ? [`Only the first ${shown.length} of ${jobs.length} jobs are shown`] : []),
    ],
    merged_yaml: mergedYaml,
    includes: includes.map((file) => presentInclude(baseUrl, file)),
    ...(withJobs && { jobs: shown.map(presentJob) }),
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

function jobsThatFit(jobs: readonly StaticJob[]): readonly StaticJob[] {
  let length = 0;
  const end = jobs.findIndex((job) => {
    length += JSON.stringify(job).length;
    return length > MAX_SHOWN_LENGTH;
  });
  return end < 0 ? jobs : jobs.slice(0, end);
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

/** A job that a pipeline would have, as lint shows it. */
export const plannedAsShown = (job: PlannedJob): StaticJob => ({
  name: job.name,
  stage: job.stage,
  beforeScript: job.beforeScript,
  script: job.script,
  afterScript: job.afterScript,
  tags: job.tags,
  only: null,
  except: null,
  environment: job.environment?.name ?? null,
  when: job.when,
  allowFailure: job.allowFailure,
  needs: job.schedulingType === 'dag' ? job.needs : null,
});
