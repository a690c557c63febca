/** The jobs of a configuration as lint shows them: all of them, whatever their rules say. Pure. */
import type { Json, PlannedJob, When } from '../plan.ts';
import { toJson, type Value } from '../reading/value.ts';
import { type JobConfig, type PipelineConfig, textOf } from './config.ts';
import { hashIn, textsIn } from './fields.ts';
import { baseNames, baseNeeds, expandNeed } from './needs.ts';

export type StaticJob = {
  name: string;
  stage: string;
  beforeScript: string[];
  script: string[];
  afterScript: string[];
  tags: string[];
  only: Json;
  except: Json;
  environment: string | null;
  when: When;
  allowFailure: boolean;
  /** Null where the job waits for its stage. */
  needs: { name: string; artifacts: boolean; optional: boolean }[] | null;
};

export function staticJobs(config: PipelineConfig): StaticJob[] {
  const bases = baseNames(config);
  const needsOf = (needs: Value | undefined) =>
    needs === undefined || needs === null
      ? null
      : baseNeeds(needs).flatMap((need) => expandNeed(config, bases, need));
  return Array.from(config.jobs.values()).flatMap(({ jobs }) =>
    jobs.map((job) => staticJob(job, needsOf(job.keywords.get('needs')))),
  );
}

function staticJob({ name, stage, keywords }: JobConfig, needs: StaticJob['needs']): StaticJob {
  const when = (textOf(keywords.get('when')) ?? 'on_success') as When;
  const allowFailure = keywords.get('allow_failure');
  const environment = keywords.get('environment');
  const hasRules = Array.isArray(keywords.get('rules'));
  return {
    name,
    stage,
    beforeScript: textsIn(keywords.get('before_script')),
    script: textsIn(keywords.get('script')),
    afterScript: textsIn(keywords.get('after_script')),
    tags: textsIn(keywords.get('tags')),
    only: toJson(keywords.get('only')) ?? (hasRules ? null : { refs: ['branches', 'tags'] }),
    except: toJson(keywords.get('except')),
    environment: textOf(environment) ?? textOf(hashIn(environment).get('name')),
    when,
    allowFailure: typeof allowFailure === 'boolean' ? allowFailure : when === 'manual' && !allowFailure,
    needs,
  };
}

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
