/** What tables of keywords are made of: checks of values that report in the words of the public API. Pure. */
import { durationSeconds } from '../duration.ts';
import { type Problem, problemAt, problemOf } from '../reading/problem.ts';
import { type Hash, isHash, type Value } from '../reading/value.ts';
import type { RegexCompiler } from '../rules/regex.ts';

type Key = string | number;

/** A place in a configuration and what messages call it, which is put together only for them. */
export class Location {
  readonly #above: Location | undefined;
  readonly #key: Key | undefined;
  readonly #name: string | undefined;

  /** `name` is what messages add to what is above, by default the key after a colon. Without a key it is the same place. */
  constructor(above: Location | undefined, key: Key | undefined, name?: string) {
    this.#above = above;
    this.#key = key;
    this.#name = name;
  }

  /** Of something at the top. */
  static top(key: string, name = key): Location {
    return new Location(undefined, key, name);
  }

  below(key: Key | undefined, name?: string): Location {
    return new Location(this, key, name);
  }

  get name(): string {
    return (this.#above?.name ?? '') + (this.#name ?? `:${this.#key}`);
  }

  get path(): Key[] {
    const above = this.#above?.path ?? [];
    return this.#key === undefined ? above : [...above, this.#key];
  }
}

/** All that is wrong, in the order in which it is found. */
export class Findings {
  readonly problems: Problem[] = [];
  readonly compile: RegexCompiler;

  constructor(compile: RegexCompiler) {
    this.compile = compile;
  }

  /** `key` is what is wrong of what is there. */
  add(location: Location, message: string, key?: Key): void {
    const path = key === undefined ? location.path : [...location.path, key];
    this.problems.push(problemAt(`${location.name} ${message}`.toLowerCase(), ...path));
  }

  /** Of all jobs, which stand nowhere. */
  addOfAll(message: string): void {
    this.problems.push(problemOf(`jobs ${message}`));
  }
}

/** What is wrong with a value; nothing for a good one. */
export type Rule = (value: Value, findings: Findings) => string | false | undefined;

export type Check = (value: Value, location: Location, findings: Findings) => void;

/**
 * An attribute is reported by its name at the place of what has it, an entry at a place of its own. A missing one, or null, is
 * right unless it is required.
 */
export type Keyword = { attribute: Rule; required?: true } | { entry: Check };
export type Keywords = Readonly<Record<string, Keyword>>;

export const attribute = (...rules: Rule[]): Keyword => ({ attribute: firstOf(rules) });
export const required = (...rules: Rule[]): Keyword => ({ attribute: firstOf(rules), required: true });
export const entry = (check: Check): Keyword => ({ entry: check });
/** An entry that rules decide on alone. */
export const config = (...rules: Rule[]): Keyword => ({ entry: checkOf(...rules) });

const firstOf =
  (rules: Rule[]): Rule =>
  (value, findings) => {
    for (const rule of rules) {
      const problem = rule(value, findings);
      if (problem) return problem;
    }
    return undefined;
  };

export const checkOf =
  (...rules: Rule[]): Check =>
  (value, location, findings) => {
    const problem = firstOf(rules)(value, findings);
    if (problem) findings.add(location, `config ${problem}`);
  };

type HashOptions = {
  /** What is said of what is no hash. */
  otherwise?: string;
  /** Keys of which only one may be there. */
  exclusive?: readonly string[][];
  more?: (hash: Hash, location: Location, findings: Findings) => void;
};

export const hashOf =
  (
    keywords: Keywords,
    { otherwise = 'config should be a hash', exclusive = [], more }: HashOptions = {},
  ): Check =>
  (value, location, findings) => {
    if (!isHash(value)) {
      findings.add(location, otherwise);
      return;
    }
    const unknown = [...value.keys()].filter((key) => !Object.hasOwn(keywords, key));
    if (unknown.length > 0)
      findings.add(location, `config contains unknown keys: ${unknown.join(', ')}`, unknown[0]);
    for (const keys of exclusive) {
      const present = keys.filter((key) => isGiven(value.get(key)));
      if (present.length > 1)
        findings.add(
          location,
          `config these keys cannot be used together: ${present.join(', ')}`,
          present[1],
        );
    }
    checkAttributes(keywords, value, location, findings);
    more?.(value, location, findings);
    checkEntries(keywords, value, location, findings);
  };

function checkAttributes(keywords: Keywords, hash: Hash, location: Location, findings: Findings): void {
  for (const [key, keyword] of Object.entries(keywords)) {
    if ('entry' in keyword) continue;
    const value = hash.get(key);
    const problem = isGiven(value)
      ? keyword.attribute(value, findings)
      : keyword.required && "can't be blank";
    if (problem) findings.add(location, `${key.replaceAll('_', ' ')} ${problem}`, key);
  }
}

function checkEntries(keywords: Keywords, hash: Hash, location: Location, findings: Findings): void {
  for (const [key, value] of hash) {
    const keyword = Object.hasOwn(keywords, key) ? keywords[key] : undefined;
    if (keyword && 'entry' in keyword && isGiven(value)) keyword.entry(value, location.below(key), findings);
  }
}

/** Each item of nested lists, at a place of that name. */
export function eachItem(
  value: Value,
  location: Location,
  name: string,
  visit: (item: Value, location: Location) => void,
  nesting = MAX_ITEM_NESTING,
): void {
  if (!Array.isArray(value)) return;
  for (const [index, item] of value.entries())
    if (Array.isArray(item) && nesting > 0)
      eachItem(item, location.below(index, ''), name, visit, nesting - 1);
    else visit(item, location.below(index, name));
}

const MAX_ITEM_NESTING = 10;

export const isGiven = (value: Value | undefined): value is Exclude<Value, null> =>
  value !== undefined && value !== null;

export const isText = (value: Value | undefined): value is string => typeof value === 'string';
const isTexts = (value: Value): value is string[] => Array.isArray(value) && value.every(isText);

const MAX_SCRIPT_NESTING = 10;
const isNestedTexts = (value: Value, depth = 0): boolean =>
  isText(value) ||
  (Array.isArray(value) &&
    depth < MAX_SCRIPT_NESTING &&
    value.every((item) => isNestedTexts(item, depth + 1)));

export const text: Rule = (value) => !isText(value) && 'should be a string';
export const filled: Rule = (value) =>
  (value === '' || (Array.isArray(value) && value.length === 0) || (isHash(value) && value.size === 0)) &&
  "can't be blank";
export const bool: Rule = (value) => typeof value !== 'boolean' && 'should be a boolean value';
export const texts: Rule = (value) => !isTexts(value) && 'should be an array of strings';
export const textOrTexts: Rule = (value) =>
  !isText(value) && !isTexts(value) && 'should be an array of strings or a string';
export const hash: Rule = (value) => !isHash(value) && 'should be a hash';
export const nestedTexts: Rule = (value) =>
  !isNestedTexts(value) && 'should be a string or a nested array of strings up to 10 levels deep';
export const nestedTextList: Rule = (value) =>
  !(Array.isArray(value) && isNestedTexts(value)) &&
  'should be an array of strings or a nested array of strings up to 10 levels deep';

export const atMost =
  (limit: number): Rule =>
  (value) =>
    isText(value) && value.length > limit && `is too long (maximum is ${limit} characters)`;

export const noMoreThan =
  (limit: number): Rule =>
  (value) =>
    Array.isArray(value) && value.length > limit && `has too many entries (maximum ${limit})`;

export const oneOf =
  (values: readonly string[], message = `should be one of: ${values.join(', ')}`): Rule =>
  (value) =>
    !values.includes(String(value)) && message;

export const duration =
  (limit = Number.POSITIVE_INFINITY, isAlso: readonly string[] = []): Rule =>
  (value) => {
    if (isAlso.includes(String(value))) return undefined;
    const seconds = isText(value) || typeof value === 'number' ? durationSeconds(value) : undefined;
    if (seconds === undefined) return 'should be a duration';
    return seconds > limit && 'should not exceed the limit';
  };

export const integer =
  (least: number, most: number): Rule =>
  (value) => {
    if (typeof value !== 'number') return 'must be an integer';
    if (value < least) return `must be greater than or equal to ${least}`;
    return value > most && `must be less than or equal to ${most}`;
  };
