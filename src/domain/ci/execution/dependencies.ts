/** The jobs whose artifacts a job gets (facts for CI: Job keywords, needs and dependencies). Pure. */
import type { PlannedJob } from '../file/plan.ts';

type Place = { name: string; stage_index: number };

/** Those that it needs with their artifacts, without needs all of earlier stages; of these, those that it depends on. */
export function dependsOn(
  job: Pick<Place, 'stage_index'>,
  { schedulingType, needs, dependencies }: Pick<PlannedJob, 'schedulingType' | 'needs' | 'dependencies'>,
): (other: Place) => boolean {
  const needed = new Set(needs.filter(({ artifacts }) => artifacts).map(({ name }) => name));
  return ({ name, stage_index }) =>
    (schedulingType === 'dag' ? needed.has(name) : stage_index < job.stage_index) &&
    (dependencies === null || dependencies.includes(name));
}
