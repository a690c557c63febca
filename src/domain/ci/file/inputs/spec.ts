/** The header `spec:` of a file: which inputs it takes, and what values they have. Pure. */

import type { FileProblem } from '../reading/problem.ts';
import { type Hash, isHash, type Value } from '../reading/value.ts';
import { holds, parseExpression } from '../rules/expression.ts';
import { betweenSlashes, type RegexCompiler } from '../rules/regex.ts';

const types = ['string', 'number', 'boolean', 'array'] as const;
type InputType = (typeof types)[number];

const componentFields = ['name', 'sha', 'version', 'reference'];
const inputKeys = ['default', 'description', 'options', 'regex', 'type', 'rules'];
const MAX_OPTIONS = 50;
const MAX_RULES = 50;
const MAX_DESCRIPTION_LENGTH = 256;

const noun: Record<InputType, string> = {
  string: 'a string',
  number: 'a number',
  boolean: 'a boolean',
  array: 'an array',
};

/** Decimals are texts here. */
const isOf: Record<InputType, (value: Value) => boolean> = {
  string: (value) => typeof value === 'string',
  number: (value) => typeof value === 'number' || (typeof value === 'string' && /^-?\d+\.\d+$/.test(value)),
  boolean: (value) => typeof value === 'boolean',
  array: Array.isArray,
};

const unknownKeys = (hash: Hash, known: readonly string[]): string | false => {
  const unknown = [...hash.keys()].filter((key) => !known.includes(key));
  return unknown.length > 0 && `config contains unknown keys: ${unknown.join(', ')}`;
};

/** What is wrong with a header, in its order. */
export function specProblems(spec: Value, compile: RegexCompiler): FileProblem[] {
  const problems: FileProblem[] = [];
  const report = (path: string[], ...found: (string | false | undefined)[]) => {
    for (const each of found) {
      if (!each) continue;
      // It begins with the key, or names unknown ones.
      const key = /unknown keys: ([^,]+)/.exec(each)?.[1] ?? each.split(' ', 1)[0] ?? '';
      problems.push({ message: `${path.join(':')} ${each}`, at: [...path, key] });
    }
  };
  if (!isHash(spec)) {
    report(['spec'], 'config should be a hash');
    return problems;
  }
  report(['spec'], unknownKeys(spec, ['inputs', 'include', 'component', 'description']));
  const { inputs, component, description } = Object.fromEntries(spec);
  if (component !== undefined)
    report(
      ['spec', 'component'],
      (!Array.isArray(component) || !component.every((each) => componentFields.includes(String(each)))) &&
        `config should be an array of: ${componentFields.join(', ')}`,
    );
  report(['spec'], isLongText(description) && 'description should be a string of at most 256 characters');
  if (inputs === undefined || inputs === null) return problems;
  if (!isHash(inputs)) report(['spec', 'inputs'], 'config should be a hash');
  else
    for (const [name, input] of inputs) {
      const path = ['spec', 'inputs', name];
      if (input === null) continue;
      if (!isHash(input)) report(path, 'config should be a hash');
      else report(path, unknownKeys(input, inputKeys), ...inputProblems(input, compile));
    }
  return problems;
}

const isLongText = (value: Value | undefined): boolean =>
  value !== undefined && !(typeof value === 'string' && value.length <= MAX_DESCRIPTION_LENGTH);

/** What is wrong with the declaration of one input. */
export function* inputProblems(input: Hash, compile: RegexCompiler): Generator<string | false> {
  const { type = 'string', options, regex, rules, description } = Object.fromEntries(input);
  yield description !== undefined && typeof description !== 'string' && 'description should be a string';
  yield !types.includes(type as InputType) && `type unknown value: ${type}`;
  if (options !== undefined) {
    const isList = Array.isArray(options) && !options.includes(null);
    yield !isList && 'options should be an array of values';
    yield isList && options.length > MAX_OPTIONS && `options cannot define more than ${MAX_OPTIONS} options`;
  }
  if (regex !== undefined) {
    yield type !== 'string' && 'regex can only be used with a string';
    yield (typeof regex !== 'string' || !regexTest(regex, compile)) &&
      'regex must be a regular expression with re2 syntax';
  }
  if (rules !== undefined) {
    yield (options !== undefined || input.has('default')) &&
      'these keys cannot be used together: rules, options, default';
    const isList = Array.isArray(rules) && rules.length <= MAX_RULES && rules.every(isHash);
    yield !isList && `rules should be an array of at most ${MAX_RULES} hashes`;
    for (const rule of isList ? rules : []) {
      const condition = rule.get('if');
      yield unknownKeys(rule, ['if', 'options', 'default']);
      yield condition !== undefined &&
        !(typeof condition === 'string' && parseExpression(condition, compile)) &&
        'rules rule if invalid expression syntax';
    }
  }
}

/** The pattern stands without slashes here. */
const regexTest = (regex: string, compile: RegexCompiler) => compile(betweenSlashes(regex));

/** The value of each input; of a header without specProblems(). */
export function inputValues(
  spec: Hash,
  given: Hash,
  compile: RegexCompiler,
): { values: Map<string, Value>; problems: FileProblem[] } {
  const inputs = spec.get('inputs');
  const declared: Hash = isHash(inputs) ? inputs : new Map();
  const problems: FileProblem[] = [];
  const values = new Map<string, Value>();
  for (const [name, input] of declared) {
    const settings: Record<string, Value> = isHash(input) ? Object.fromEntries(input) : {};
    const { options, fallback } = choices(settings, values, given, compile);
    const value = given.get(name) ?? fallback;
    const problem = valueProblem(settings, options, value, given.has(name), compile);
    if (problem) problems.push({ message: `\`${name}\` input: ${problem}`, at: ['spec', 'inputs', name] });
    else if (value !== undefined) values.set(name, value);
  }
  const unknown = [...given.keys()].filter((name) => !declared.has(name));
  if (unknown.length > 0)
    problems.push({ message: `unknown input arguments: ${unknown.join(', ')}`, at: ['spec', 'inputs'] });
  return { values, problems };
}

/** Options and default, which the first rule that holds may give. */
function choices(
  settings: Record<string, Value>,
  before: ReadonlyMap<string, Value>,
  given: Hash,
  compile: RegexCompiler,
) {
  const names = {
    variable: () => undefined,
    input: (name: string) => {
      const value = before.get(name) ?? given.get(name);
      return typeof value === 'object' ? undefined : value === undefined ? undefined : String(value);
    },
  };
  const rules = Array.isArray(settings.rules) ? settings.rules.filter(isHash) : [];
  const rule = rules.find((each) => {
    const condition = each.get('if');
    if (typeof condition !== 'string') return true;
    const expression = parseExpression(condition, compile);
    return expression !== undefined && holds(expression, names, compile);
  });
  const options = rule ? rule.get('options') : settings.options;
  return {
    options: Array.isArray(options) ? options : undefined,
    fallback: rule ? rule.get('default') : settings.default,
  };
}

function valueProblem(
  { type = 'string', regex }: Record<string, Value>,
  options: Value[] | undefined,
  value: Value | undefined,
  isGiven: boolean,
  compile: RegexCompiler,
): string | undefined {
  if (value === undefined) return 'required value has not been provided';
  const source = isGiven ? 'provided' : 'default';
  const wanted = type as InputType;
  if (!isOf[wanted](value)) return `${source} value is not ${noun[wanted]}`;
  if (options && !options.includes(value))
    return `\`${value}\` cannot be used because it is not in the list of allowed options`;
  if (typeof regex === 'string' && !regexTest(regex, compile)?.(String(value)))
    return `${source} value does not match required RegEx pattern`;
  return undefined;
}
