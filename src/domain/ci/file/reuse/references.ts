/** `!reference [job, key]`: what stands elsewhere in the configuration, here too. Pure. */
import { type Path, type Problem, problemAt } from '../reading/problem.ts';
import { type Hash, isHash, Reference, type Value } from '../reading/value.ts';

/** References that may lead to references. */
const MAX_NESTING = 10;

class ReferenceProblem extends Error {
  readonly reference: Reference;
  constructor(message: string, reference: Reference) {
    super(message);
    this.reference = reference;
  }
}

/** `depth`: how many references follow one another inside. */
type Resolved = { value: Value; depth: number };

/** The configuration with what its references name, or what is wrong with one. */
export function resolveReferences(config: Hash): { config: Hash } | { problem: Problem } {
  const known = new Map<object, Resolved>();
  const open: string[] = [];

  const follow = (reference: Reference): Resolved => {
    const written = `!reference [${reference.path.map((part) => `"${part}"`).join(', ')}]`;
    const refuse = (problem: string): never => {
      throw new ReferenceProblem(`${written} ${problem}`, reference);
    };
    if (reference.path.length === 0) refuse('is not valid');
    if (open.includes(written)) refuse('is part of a circular chain');
    const target = reference.path.reduce<Value | undefined>(
      (value, key) => (isHash(value) ? value.get(key) : undefined),
      config,
    );
    if (target === undefined) return refuse('could not be found');
    const tooDeep = `is nested more than ${MAX_NESTING} levels deep`;
    if (open.length === MAX_NESTING) refuse(tooDeep);
    open.push(written);
    const { value, depth } =
      typeof target === 'object' && target !== null ? resolve(target) : { value: target, depth: 0 };
    open.pop();
    if (depth === MAX_NESTING) refuse(tooDeep);
    return { value, depth: depth + 1 };
  };

  const resolve = (value: Hash | Value[] | Reference): Resolved => {
    const before = known.get(value);
    if (before) return before;
    const resolved = value instanceof Reference ? follow(value) : within(value);
    known.set(value, resolved);
    return resolved;
  };

  /** What has no reference inside stays the same object, which others may share. */
  const within = (value: Hash | Value[]): Resolved => {
    let depth = 0;
    let copy: Hash | Value[] | undefined;
    for (const [key, item] of value.entries()) {
      if (typeof item !== 'object' || item === null) continue;
      const resolved = resolve(item);
      depth = Math.max(depth, resolved.depth);
      if (resolved.value === item) continue;
      copy ??= isHash(value) ? new Map(value) : [...value];
      if (isHash(copy)) copy.set(String(key), resolved.value);
      else copy[Number(key)] = resolved.value;
    }
    return { value: copy ?? value, depth };
  };

  try {
    return { config: resolve(config).value as Hash };
  } catch (error) {
    if (!(error instanceof ReferenceProblem)) throw error;
    return { problem: problemAt(error.message, ...(pathTo(error.reference, config, new Set()) ?? [])) };
  }
}

/** Where a reference stands; undefined where it does not. */
function pathTo(reference: Reference, value: Value, seen: Set<Value>): Path | undefined {
  if (value === reference) return [];
  if (typeof value !== 'object' || value === null || value instanceof Reference || seen.has(value))
    return undefined;
  seen.add(value);
  for (const [key, item] of value.entries()) {
    const path = pathTo(reference, item, seen);
    if (path) return [key, ...path];
  }
  return undefined;
}
