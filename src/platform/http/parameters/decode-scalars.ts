/** Decoders of scalars, each compiled from its schema once, for values of any source. */
import { countCharacters, hasMoreCharacters } from '../../characters.ts';
import {
  invalidAt,
  outOfRangeAt,
  type Path,
  type Problems,
  refuse,
  tooLongAt,
  tooShortAt,
} from './problems.ts';
import { type RawValue, UploadedFile } from './raw-parameters.ts';

export type Decode = (raw: RawValue, problems: Problems) => unknown;

/** The part of JSON Schema in which parameters are declared. */
export type SchemaNode = {
  type?: string | string[];
  enum?: unknown[];
  const?: unknown;
  anyOf?: SchemaNode[];
  format?: string;
  pattern?: string;
  minLength?: number;
  maxLength?: number;
  minimum?: number;
  maximum?: number;
  items?: SchemaNode;
  minItems?: number;
  maxItems?: number;
  commaSeparated?: boolean;
  properties?: Record<string, SchemaNode>;
  required?: string[];
  additionalProperties?: boolean | SchemaNode;
  patternProperties?: Record<string, SchemaNode>;
  default?: unknown;
};

export const compileUnknown = (path: Path): Decode => {
  const invalid = invalidAt(path);
  return (raw, problems) => (raw instanceof UploadedFile ? refuse(problems, invalid) : raw);
};

export const compileFile = (path: Path): Decode => {
  const invalid = invalidAt(path);
  return (raw, problems) => (raw instanceof UploadedFile ? raw : refuse(problems, invalid));
};

/** The spellings of booleans in public clients; python-gitlab writes `True` in a query. */
const booleans = new Map<unknown, boolean>([
  ...[true, 'true', 'True', 1, '1'].map((form) => [form, true] as const),
  ...[false, 'false', 'False', 0, '0'].map((form) => [form, false] as const),
]);

export const compileBoolean = (path: Path): Decode => {
  const invalid = invalidAt(path);
  return (raw, problems) => {
    const value = booleans.get(raw);
    return value === undefined ? refuse(problems, invalid) : value;
  };
};

const rangeText = (minimum: number, maximum: number): string => {
  if (maximum === Number.MAX_SAFE_INTEGER) return `${minimum} or more`;
  return minimum === -Number.MAX_SAFE_INTEGER ? `${maximum} or less` : `${minimum} to ${maximum}`;
};

const integerPattern = /^-?\d+$/;
const numberPattern = /^-?(?:\d+(?:\.\d*)?|\.\d+)(?:e[+-]?\d+)?$/i;

export const compileNumber = (node: SchemaNode, wantsInteger: boolean, path: Path): Decode => {
  const { minimum = -Number.MAX_SAFE_INTEGER, maximum = Number.MAX_SAFE_INTEGER } = node;
  const pattern = wantsInteger ? integerPattern : numberPattern;
  const invalid = invalidAt(path);
  const outOfRange = outOfRangeAt(path, rangeText(minimum, maximum));
  return (raw, problems) => {
    const value = typeof raw === 'string' && pattern.test(raw) ? Number(raw) : raw;
    if (typeof value !== 'number' || (wantsInteger && !Number.isInteger(value)))
      return refuse(problems, invalid);
    if (!(Math.abs(value) <= Number.MAX_SAFE_INTEGER)) return refuse(problems, invalid);
    return value < minimum || value > maximum ? refuse(problems, outOfRange) : value;
  };
};

/** Text as sent; an integer is taken for its digits, because clients send numeric names as JSON numbers. */
const textOf = (raw: RawValue): string | undefined =>
  typeof raw === 'string' ? raw : Number.isSafeInteger(raw) ? String(raw) : undefined;

export const compileString = (node: SchemaNode, path: Path): Decode => {
  const { minLength = 0, maxLength = Number.POSITIVE_INFINITY } = node;
  const pattern = node.pattern === undefined ? undefined : new RegExp(node.pattern, 'u');
  const invalid = invalidAt(path);
  const tooShort = tooShortAt(path, minLength, 'character');
  const tooLong = tooLongAt(path, maxLength, 'character');
  return (raw, problems) => {
    const text = textOf(raw);
    if (text === undefined) return refuse(problems, invalid);
    if (hasMoreCharacters(text, maxLength)) return refuse(problems, tooLong);
    if (text.length < 2 * minLength && countCharacters(text) < minLength) return refuse(problems, tooShort);
    return pattern === undefined || pattern.test(text) ? text : refuse(problems, invalid);
  };
};

export const compileTime = (format: 'date' | 'date-time', path: Path): Decode => {
  const invalid = invalidAt(path);
  return (raw, problems) => {
    const time = typeof raw === 'string' ? readTime(raw) : undefined;
    if (time === undefined) return refuse(problems, invalid);
    return format === 'date' ? time.day : time.instant;
  };
};

const timePattern =
  /^(\d{4}-\d\d-\d\d)(?:[T ](\d\d:\d\d)(?::(\d\d)(?:[.,](\d+))?)? ?(?:Z|UTC|([+-])([01]\d|2[0-3]):?([0-5]\d)?)?)?$/i;

/** ISO 8601 text, UTC where it names no zone: the day as written, and the instant in UTC with milliseconds. */
const readTime = (text: string): { day: string; instant: string } | undefined => {
  const match = timePattern.exec(text);
  if (match === null) return undefined;
  const [, day = '', time = '00:00', seconds = '00', fraction = '', sign = '+', hours = 0, minutes = 0] =
    match;
  const local = new Date(`${day}T${time}:${seconds}.${fraction.padEnd(3, '0').slice(0, 3)}Z`);
  // A day beyond the end of its month would roll over to the next month.
  if (Number.isNaN(local.getTime()) || !local.toISOString().startsWith(day)) return undefined;
  const offset = (Number(hours) * 60 + Number(minutes)) * (sign === '-' ? -60_000 : 60_000);
  const instant = new Date(local.getTime() - offset).toISOString();
  // PostgreSQL has no year 0, and years past 9999 need another notation.
  return /^(?!0000)\d{4}-/.test(instant) && !day.startsWith('0000') ? { day, instant } : undefined;
};

export const compileEnum = (members: unknown[], path: Path): Decode => {
  const values = new Map(
    members.filter((member) => member !== null).map((member) => [String(member), member]),
  );
  const onlyIntegers = [...values.values()].every(Number.isInteger);
  const invalid = invalidAt(path);
  const outOfRange = outOfRangeAt(path, [...values.keys()].filter((text) => text !== '').join(', '));
  return (raw, problems) => {
    const text = typeof raw === 'boolean' ? String(raw) : textOf(raw);
    if (text === undefined || (onlyIntegers && !integerPattern.test(text))) return refuse(problems, invalid);
    const value = values.get(text);
    return value === undefined ? refuse(problems, outOfRange) : value;
  };
};
