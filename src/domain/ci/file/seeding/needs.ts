/** What jobs need and depend on: as the file says it, and as full names of parallel jobs. Pure. */
import type { ForeignNeed, PlannedNeed } from '../plan.ts';
import type { Path } from '../reading/problem.ts';
import { type Hash, isHash, nestedItems, type Value } from '../reading/value.ts';
import { needItems } from '../validation/needs.ts';
import { combinations, type PipelineConfig, textOf } from './config.ts';

/** A need of the same pipeline, in the words of the file. */
export type BaseNeed = { name: string; artifacts: boolean; optional: boolean; matrix: Hash[] | null };

export function baseNeeds(needs: Value | undefined): BaseNeed[] {
  return needItems(needs).flatMap((need) => {
    if (!isHash(need)) return [{ name: String(need), artifacts: true, optional: false, matrix: null }];
    if (need.has('pipeline') || need.has('project')) return [];
    const parallel = need.get('parallel');
    const matrix = isHash(parallel) ? parallel.get('matrix') : undefined;
    return [
      {
        name: textOf(need.get('job')) ?? '',
        artifacts: need.get('artifacts') !== false,
        optional: need.get('optional') === true,
        matrix: Array.isArray(matrix) ? matrix.filter(isHash) : null,
      },
    ];
  });
}

/** Where the need of each job stands in the list. */
export const placesOfNeeds = (needs: Value | undefined): ReadonlyMap<Value | undefined, Path> =>
  new Map(
    Array.from(nestedItems(needs ?? null), ([need, path]) => [isHash(need) ? need.get('job') : need, path]),
  );

export function foreignNeeds(needs: Value | undefined): ForeignNeed[] {
  return needItems(needs).flatMap((need): ForeignNeed[] => {
    if (!isHash(need)) return [];
    const [pipeline, project, ref, job] = ['pipeline', 'project', 'ref', 'job'].map((key) =>
      textOf(need.get(key)),
    );
    const artifacts = need.get('artifacts') !== false;
    if (pipeline && job) return [{ kind: 'pipeline', pipeline, job, artifacts }];
    return project && job ? [{ kind: 'project', project, ref: ref ?? '', job, artifacts }] : [];
  });
}

/** The base names of jobs by their full names, too: needs may name one of several parallel jobs. */
export function baseNames({ jobs }: PipelineConfig): ReadonlyMap<string, string> {
  const names = new Map<string, string>();
  for (const base of jobs.values()) {
    for (const job of base.jobs) names.set(job.name, base.name);
    names.set(base.name, base.name);
  }
  return names;
}

/** The full names that a name stands for; none for an unknown one. */
export function fullNames(
  { jobs }: PipelineConfig,
  bases: ReadonlyMap<string, string>,
  name: string,
): string[] {
  const base = jobs.get(name);
  if (base) return base.jobs.map((job) => job.name);
  return bases.has(name) ? [name] : [];
}

/** The need for each job that it selects. */
export function expandNeed(
  config: PipelineConfig,
  bases: ReadonlyMap<string, string>,
  { name, artifacts, optional, matrix }: BaseNeed,
): PlannedNeed[] {
  const base = config.jobs.get(name);
  if (!matrix || !base)
    return fullNames(config, bases, name).map((each) => ({ name: each, artifacts, optional }));
  const wanted = matrix.flatMap(combinations);
  const selected = base.jobs.filter((job) =>
    wanted.some((choice) =>
      choice.every(({ key, value }) => job.matrix.some((each) => each.key === key && each.value === value)),
    ),
  );
  return selected.map((job) => ({ name: job.name, artifacts, optional }));
}
