/** The inputs of a job: what its file declares, and what who starts it by hand gives (facts for CI: Job keywords, inputs). Pure. */
import { badRequest } from '../../../platform/failure.ts';
import { inputValues } from '../file/inputs/spec.ts';
import type { Json } from '../file/plan.ts';
import { fromJson, isHash, toJson, type Value } from '../file/reading/value.ts';
import type { RegexCompiler } from '../file/rules/regex.ts';

export type GivenInputs = { [name: string]: Json };

/** As the protocol of runners has it. */
export type SentInput = { key: string; value: { content: Json; type: string; sensitive: false } };

/** Of all values of a job, as JSON. */
const MAX_LENGTH = 65_536;

const declaredIn = (declared: Json): ReadonlyMap<string, Value> => {
  const inputs = fromJson(declared);
  return isHash(inputs) ? inputs : new Map();
};

/**
 * What the inputs have from now on: what was given before stays, and null is the value of the file. 400 for what the file does not
 * take.
 */
export function mergeGiven(
  declared: Json,
  before: GivenInputs | null,
  given: GivenInputs,
  compile: RegexCompiler,
): GivenInputs {
  const known = declaredIn(declared);
  const unknown = Object.keys(given).filter((name) => !known.has(name));
  if (unknown.length > 0)
    throw badRequest(`Unknown input${unknown.length > 1 ? 's' : ''}: ${unknown.join(', ')}`);
  const all = Object.entries({ ...before, ...given });
  const merged = Object.fromEntries(all.filter(([, value]) => value !== null));
  if (JSON.stringify(merged).length > MAX_LENGTH)
    throw badRequest(`inputs have at most ${MAX_LENGTH} characters together`);
  const values = new Map(Object.entries(merged).map(([name, value]) => [name, fromJson(value)]));
  const [problem] = inputValues(new Map([['inputs', new Map(known)]]), values, compile).problems;
  if (problem) throw badRequest(problem.message);
  return merged;
}

const typeNames: Record<string, string> = { number: 'number', boolean: 'boolean', array: 'array' };

/** Each input with its value, which is of its type. */
export function sentInputs(declared: Json, given: GivenInputs | null): SentInput[] {
  return Array.from(declaredIn(declared), ([key, input]) => {
    const settings: Record<string, Value> = isHash(input) ? Object.fromEntries(input) : {};
    const type = typeNames[String(settings.type)] ?? 'string';
    const value = given && Object.hasOwn(given, key) ? given[key] : toJson(settings.default);
    // The compiler keeps decimals as texts.
    const content = type === 'number' ? Number(value) : (value ?? '');
    return { key, value: { content, type, sensitive: false } };
  });
}
