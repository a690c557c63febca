/** The configuration after validation: jobs with their defaults, one for each of parallel ones, in stages. Pure. */
import type { YamlVariable } from '../plan.ts';
import { type Problem, problemAt, problemOf } from '../reading/problem.ts';
import { type Hash, isHash, sizeOf, type Value } from '../reading/value.ts';
import { kindOfJob, MAX_NAME_LENGTH } from '../validation/job.ts';
import { combinationCount } from '../validation/matrix.ts';
import { defaultsAtTop, isJobName } from '../validation/root.ts';
import { defaultKeywords } from '../validation/shared.ts';

export type JobConfig = {
  /** Full name, as of `test: [a, b]` and `test 1/3`. */
  name: string;
  kind: 'job' | 'bridge';
  stage: string;
  /** With what it inherits of the defaults. */
  keywords: Hash;
  parallel: { index: number; total: number } | null;
  /** Of a matrix. */
  matrix: YamlVariable[];
};

/** A job as the file has it, with all that became of it. */
export type BaseJob = {
  name: string;
  kind: 'job' | 'bridge';
  stage: string;
  keywords: Hash;
  jobs: JobConfig[];
};

export type PipelineConfig = {
  stages: string[];
  workflow: Hash;
  variables: YamlVariable[];
  jobs: ReadonlyMap<string, BaseJob>;
};

/** Of one pipeline, with parallel ones. */
const MAX_JOBS = 20_000;
/** Characters that all jobs have with what they inherit. */
const MAX_LENGTH = 256 * 1024 * 1024;

const DEFAULT_STAGES = ['build', 'test', 'deploy'];
const DEFAULT_STAGE = 'test';

const hashAt = (root: Hash, key: string): Hash => {
  const value = root.get(key);
  return isHash(value) ? value : new Map();
};

export const textOf = (value: Value | undefined): string | null =>
  value === undefined || value === null || typeof value === 'object' ? null : String(value);

/** Of a configuration in which nothing is wrong. */
export function composeConfig(root: Hash): PipelineConfig | { problem: Problem } {
  const defaults: Hash = new Map(hashAt(root, 'default'));
  for (const key of defaultsAtTop) {
    const value = root.get(key);
    if (value !== undefined && value !== null) defaults.set(key, value);
  }
  const jobs = new Map<string, BaseJob>();
  const names = new Set<string>();
  const shared = sizeOf(root.get('variables'));
  let count = 0;
  let length = 0;
  for (const [name, value] of root) {
    const kind = isJobName(name) ? kindOfJob(name, value) : undefined;
    if (!kind || kind === 'hidden' || !isHash(value)) continue;
    const keywords = withDefaults(value, kind, defaults);
    const copies = parallelCount(keywords.get('parallel'));
    count += copies;
    if (count > MAX_JOBS)
      return {
        problem: problemAt(
          `The number of jobs has exceeded the limit of ${MAX_JOBS}. Try splitting the configuration with parent-child-pipelines`,
          name,
        ),
      };
    length += copies * (sizeOf(keywords) + shared);
    if (length > MAX_LENGTH) return { problem: problemOf('The parsed YAML is too big') };
    const stage = textOf(value.get('stage')) ?? DEFAULT_STAGE;
    const parallel = parallelJobs({ name, kind, stage, keywords });
    jobs.set(name, { name, kind, stage, keywords, jobs: parallel });
    for (const job of parallel) {
      if (job.name.length > MAX_NAME_LENGTH)
        return {
          problem: problemAt(
            `jobs:${name} name is too long (maximum is ${MAX_NAME_LENGTH} characters): ${job.name}`,
            name,
          ),
        };
      if (names.has(job.name))
        return { problem: problemAt(`jobs:${job.name} is the name of more than one job`, name) };
      names.add(job.name);
    }
  }
  return {
    stages: stagesOf(root.get('stages')),
    workflow: hashAt(root, 'workflow'),
    variables: yamlVariables(root.get('variables')),
    jobs,
  };
}

function parallelCount(parallel: Value | undefined): number {
  if (typeof parallel === 'number') return parallel;
  return isHash(parallel) ? combinationCount(parallel.get('matrix') ?? null) : 1;
}

function stagesOf(given: Value | undefined): string[] {
  const names = Array.isArray(given) ? (given.flat(10) as Value[]).map(String) : DEFAULT_STAGES;
  return [...new Set(['.pre', ...names.filter((name) => name !== '.pre' && name !== '.post'), '.post'])];
}

const ofBridges = ['interruptible'];

function withDefaults(job: Hash, kind: 'job' | 'bridge', defaults: Hash): Hash {
  const inherited = hashAt(job, 'inherit').get('default');
  const isInherited = inherits(inherited);
  let composed = job;
  for (const key of kind === 'job' ? Object.keys(defaultKeywords) : ofBridges) {
    const value = defaults.get(key);
    const own = job.get(key);
    if (value === undefined || value === null || (own !== undefined && own !== null) || !isInherited(key))
      continue;
    if (composed === job) composed = new Map(job);
    composed.set(key, value);
  }
  return composed;
}

/** What `inherit:` says of names. */
export function inherits(given: Value | undefined): (name: string) => boolean {
  if (typeof given === 'boolean') return () => given;
  if (!Array.isArray(given)) return () => true;
  const names = new Set(given);
  return (name) => names.has(name);
}

export function yamlVariables(given: Value | undefined): YamlVariable[] {
  if (!isHash(given)) return [];
  return Array.from(given, ([key, value]) => {
    const isDetailed = isHash(value);
    return {
      key,
      value: textOf(isDetailed ? value.get('value') : value) ?? '',
      raw: isDetailed && value.get('expand') === false,
    };
  });
}

type Job = Omit<BaseJob, 'jobs'>;

function parallelJobs(job: Job): JobConfig[] {
  const parallel = job.keywords.get('parallel');
  if (typeof parallel === 'number')
    return Array.from({ length: parallel }, (_, i) => ({
      ...job,
      name: `${job.name} ${i + 1}/${parallel}`,
      parallel: { index: i + 1, total: parallel },
      matrix: [],
    }));
  const rows = isHash(parallel) ? parallel.get('matrix') : undefined;
  if (!Array.isArray(rows)) return [{ ...job, parallel: null, matrix: [] }];
  const byName = new Map(
    rows
      .filter(isHash)
      .flatMap(combinations)
      .map((matrix) => [`${job.name}: [${matrix.map(({ value }) => value).join(', ')}]`, matrix]),
  );
  return Array.from(byName, ([name, matrix], i) => ({
    ...job,
    name,
    parallel: { index: i + 1, total: byName.size },
    matrix,
  }));
}

/** Each value of a row with each of the others; the last one changes first. */
export function combinations(row: Hash): YamlVariable[][] {
  return [...row].reduce<YamlVariable[][]>(
    (lists, [key, values]) =>
      lists.flatMap((list) =>
        [values].flat().map((value) => [...list, { key, value: textOf(value) ?? '', raw: false }]),
      ),
    [[]],
  );
}
