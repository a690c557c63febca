/** What of a document is not as its schema says, in words for its author. Pure. */
import type { TSchema } from 'typebox';
import { sentenceOf } from '../../platform/sentence.ts';
import { type Json, type Path, quoted } from './read-document.ts';

export type Problem = { message: string; path: Path };

/** The keywords that the schema of seeds uses. */
type Node = {
  type?: 'object' | 'array' | 'string' | 'integer' | 'boolean' | 'null';
  properties?: Record<string, Node>;
  required?: readonly string[];
  additionalProperties?: boolean;
  patternProperties?: Record<string, Node>;
  items?: Node;
  minItems?: number;
  maxItems?: number;
  minLength?: number;
  maxLength?: number;
  pattern?: string;
  format?: 'date' | 'date-time';
  enum?: readonly string[];
  minimum?: number;
  maximum?: number;
  anyOf?: readonly Node[];
};

type Kind = NonNullable<Node['type']>;
const kindNames: Record<Kind, string> = {
  object: 'an object',
  array: 'a list',
  string: 'a text',
  integer: 'a whole number',
  boolean: 'true or false',
  null: 'null',
};

function kindOf(value: Json): Kind | undefined {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'array';
  if (typeof value === 'number') return Number.isSafeInteger(value) ? 'integer' : undefined;
  return typeof value as 'object' | 'string' | 'boolean';
}

/** In the order of the document, at most so many: `limit`. */
export function structureProblems(schema: TSchema, value: Json, limit: number): Problem[] {
  const problems: Problem[] = [];
  for (const problem of walk(schema as Node, value, [])) {
    problems.push(problem);
    if (problems.length === limit) break;
  }
  return problems;
}

function* walk(node: Node, value: Json, path: Path): Generator<Problem> {
  const kind = kindOf(value);
  const among = (node.anyOf ?? [node]).filter(({ type }) => type === kind);
  const [fitting] = among;
  if (!fitting) {
    const wanted = (node.anyOf ?? [node]).flatMap(({ type }) => (type ? kindNames[type] : []));
    yield { message: `${subject(path)} is ${wanted.join(', or ')}`, path };
  } else if (typeof value === 'string') yield* textProblems(fitting, value, path);
  else if (typeof value === 'number') yield* numberProblems(fitting, value, path);
  else if (Array.isArray(value)) yield* listProblems(fitting, value, path);
  else if (typeof value === 'object' && value !== null) yield* objectProblems(fitting, value, path);
}

/** What a path leads to, as a message begins. */
function subject(path: Path): string {
  const last = path.at(-1);
  if (last === undefined) return 'a seed';
  return typeof last === 'string' ? quoted(last) : 'this item';
}

function* objectProblems(node: Node, value: { [key: string]: Json }, path: Path): Generator<Problem> {
  const [others] = Object.values(node.patternProperties ?? {});
  const known = node.properties ?? {};
  for (const [key, item] of Object.entries(value)) {
    const below = Object.hasOwn(known, key) ? known[key] : others;
    if (below) yield* walk(below, item, [...path, key]);
    else {
      const message = `there is no ${quoted(key)} here, but ${sentenceOf(Object.keys(known))}`;
      yield { message, path: [...path, key] };
    }
  }
  const missing = (node.required ?? []).filter((key) => !Object.hasOwn(value, key));
  for (const key of missing) yield { message: `${quoted(key)} is missing`, path };
}

function* listProblems(node: Node, value: readonly Json[], path: Path): Generator<Problem> {
  const { items, minItems = 0, maxItems = Number.POSITIVE_INFINITY } = node;
  if (value.length > maxItems) yield { message: `${subject(path)} has more than ${maxItems} items`, path };
  else if (value.length < minItems) yield { message: `${subject(path)} is empty`, path };
  else if (items) for (const [index, item] of value.entries()) yield* walk(items, item, [...path, index]);
}

/** Patterns in words; the schema has them for programs. */
const patternWords = (pattern: string): string => {
  if (pattern.includes('A-Fa-f')) return 'is a color like #428bca';
  if (pattern.includes('0-9a-f')) return 'is a SHA-256 in 64 hexadecimal digits';
  if (pattern.includes('={0,2}')) return 'is base64';
  if (pattern.includes('x7e')) return 'has 8 to 255 letters, digits and signs, without spaces';
  if (pattern.includes('/')) return 'is a path of letters, digits, "_", "-" and "." in parts behind "/"';
  return 'has letters, digits, "_", "-" and "." alone';
};

function* textProblems(node: Node, value: string, path: Path): Generator<Problem> {
  const say = (message: string): Problem => ({ message: `${subject(path)} ${message}`, path });
  if (value.includes('\0')) yield say('has a NUL in it');
  else if (node.enum && !node.enum.includes(value))
    yield say(`is one of ${node.enum.join(', ')}, not ${quoted(value)}`);
  else if (node.minLength !== undefined && [...value.slice(0, node.minLength * 2)].length < node.minLength)
    yield say(node.minLength === 1 ? 'is empty' : `is shorter than ${node.minLength} characters`);
  else if (
    node.maxLength !== undefined &&
    value.length > node.maxLength &&
    [...value].length > node.maxLength
  )
    yield say(`is longer than ${node.maxLength} characters`);
  else if (node.pattern !== undefined && !new RegExp(node.pattern, 'u').test(value))
    yield say(`${patternWords(node.pattern)}: not ${quoted(value)}`);
  else if (node.format === 'date' && !isDate(value))
    yield say(`is a day like 2026-01-31, not ${quoted(value)}`);
  else if (node.format === 'date-time' && !isTime(value))
    yield say(`is a time like 2026-01-31T09:30:00Z, not ${quoted(value)}`);
}

function isDate(value: string): boolean {
  if (!/^\d{4}-\d\d-\d\d$/.test(value)) return false;
  const time = Date.parse(`${value}T00:00:00Z`);
  return !Number.isNaN(time) && new Date(time).toISOString().startsWith(value);
}

const isTime = (value: string): boolean =>
  /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{1,9})?(Z|[+-]\d\d:\d\d)$/.test(value) &&
  isDate(value.slice(0, 10)) &&
  !Number.isNaN(Date.parse(value));

function* numberProblems({ minimum, maximum }: Node, value: number, path: Path): Generator<Problem> {
  if (minimum !== undefined && value < minimum)
    yield { message: `${subject(path)} is ${minimum} or more`, path };
  if (maximum !== undefined && value > maximum)
    yield { message: `${subject(path)} is ${maximum} or less`, path };
}
