/** `extends`: jobs over what they are built on. Pure. */
import { type Problem, problemAt, problemOf } from '../reading/problem.ts';
import { deepMerge, type Hash, isHash, sizeOf, type Value } from '../reading/value.ts';

const MAX_NESTING = 10;
/** Characters that all jobs may have with what they extend. */
const MAX_EXTENDED_LENGTH = 16 * 1024 * 1024;

const TOO_BIG = 'The parsed YAML is too big';

class ExtendsProblem extends Error {
  readonly job: string;
  constructor(job: string, problem: string) {
    super(`${job}: ${problem}`);
    this.job = job;
  }
}

/** The names that a job extends; undefined where there are none, or no names. */
export function basesOf(job: Value | undefined): string[] | undefined {
  const bases = isHash(job) ? job.get('extends') : undefined;
  if (typeof bases === 'string') return [bases];
  const isList = Array.isArray(bases) && bases.every((base) => typeof base === 'string');
  return isList ? (bases as string[]) : undefined;
}

/** The configuration with each job over its bases, or what is wrong, once for each job that is. */
export function extendJobs(config: Hash): { config: Hash } | { problems: Problem[] } {
  const extended = new Map<string, { job: Hash; depth: number }>();
  const open: string[] = [];
  let length = 0;

  const extend = (name: string): { job: Hash; depth: number } => {
    const known = extended.get(name);
    if (known) return known;
    const job = config.get(name) as Hash;
    const refuse = (problem: string): never => {
      throw new ExtendsProblem(name, problem);
    };
    if (open.includes(name)) refuse('circular dependency detected in `extends`');
    const names = basesOf(job) ?? [];
    const unknown = names.filter((base) => !config.has(base));
    if (unknown.length > 0) refuse(`unknown keys in \`extends\` (${unknown.join(', ')})`);
    const invalid = names.filter((base) => !isHash(config.get(base)));
    if (invalid.length > 0) refuse(`invalid base hashes in \`extends\` (${invalid.join(', ')})`);
    if (open.length > MAX_NESTING) refuse('nesting too deep in `extends`');
    open.push(name);
    const bases = names.map(extend);
    open.pop();
    const depth = bases.reduce((most, base) => Math.max(most, base.depth + 1), 0);
    if (depth > MAX_NESTING) refuse('nesting too deep in `extends`');
    let merged: Hash = new Map();
    for (const base of bases) {
      merged = deepMerge(merged, base.job);
      length += sizeOf(merged);
      if (length > MAX_EXTENDED_LENGTH) refuse(TOO_BIG);
    }
    if (bases.length > 0) merged = deepMerge(merged, job);
    else merged = job;
    const result = { job: merged, depth };
    extended.set(name, result);
    return result;
  };

  const problems = new Map<string, Problem>();
  const result: Hash = new Map(config);
  for (const [name, job] of config) {
    if (basesOf(job) === undefined) continue;
    try {
      result.set(name, extend(name).job);
    } catch (error) {
      if (!(error instanceof ExtendsProblem)) throw error;
      open.length = 0;
      problems.set(error.message, problemAt(error.message, error.job, 'extends'));
    }
    if (length > MAX_EXTENDED_LENGTH) return { problems: [problemOf(TOO_BIG)] };
  }
  return problems.size > 0 ? { problems: [...problems.values()] } : { config: result };
}
