/** Values as PostgreSQL writes and reads them: which type a value has by itself, and the conversions of each type. */

const BYTES = 17;
const INSTANT = 1184;
const JSON_TEXT = 114;
const JSONB = 3802;

/** The types of arrays that PostgreSQL brings along, with the types of their elements; our tables have no others. */
const elementOf: ReadonlyMap<number, number> = new Map([
  ...([
    [199, 114],
    [1000, 16],
    [1001, 17],
    [1002, 18],
    [1003, 19],
    [1005, 21],
    [1007, 23],
    [1009, 25],
  ] as const),
  ...([
    [1014, 1042],
    [1015, 1043],
    [1016, 20],
    [1021, 700],
    [1022, 701],
    [1028, 26],
    [1041, 869],
  ] as const),
  ...([
    [1115, 1114],
    [1182, 1082],
    [1185, 1184],
    [1231, 1700],
    [2951, 2950],
    [3807, 3802],
  ] as const),
]);

export const isBytes = (type: number | undefined): boolean => type === BYTES;

/** Whether values of this type are read from the server's bytes instead of a text. */
export const comesAsBytes = (type: number): boolean => type === BYTES || type === INSTANT;

/** A value of bytes may be a list of parts, which are written one after the other. */
export const isParts = (value: unknown): value is readonly Uint8Array[] =>
  Array.isArray(value) && value[0] instanceof Uint8Array;

/** A value that is to be jsonb where the text of the statement does not say so. */
export class JsonValue {
  readonly value: unknown;

  constructor(value: unknown) {
    this.value = value;
  }
}

/** The type for the server; zero where the server infers it from the statement. */
export function typeOf(value: unknown): number {
  if (typeof value === 'object' && value !== null) {
    if (value instanceof Date) return INSTANT;
    if (value instanceof JsonValue) return JSONB;
    return value instanceof Uint8Array || isParts(value) ? BYTES : 0;
  }
  if (typeof value === 'boolean') return 16;
  return typeof value === 'bigint' ? 20 : 0;
}

const isJson = (type: number): boolean => type === JSONB || type === JSON_TEXT;
const instant = (value: unknown): string => new Date(value as Date | string).toISOString();
const quoted = (text: string): string => `"${text.replace(/[\\"]/g, '\\$&')}"`;
const hexadecimal = (bytes: Uint8Array): string => `\\x${Buffer.from(bytes).toString('hex')}`;

function writeArray(values: readonly unknown[], element: number): string {
  const parts = values.map((value) => {
    if (value === null) return 'null';
    if (value === undefined) throw new TypeError('a statement was given an undefined value');
    if (typeof value === 'number') return String(value);
    const isNested = Array.isArray(value) && !isJson(element);
    return isNested ? writeArray(value, element) : quoted(writeText(value, element));
  });
  return `{${parts.join(',')}}`;
}

/** A value that is not null as the text of its type; bytes that are values themselves do not come here. */
export function writeText(value: unknown, type: number): string {
  if (value instanceof JsonValue) return JSON.stringify(value.value);
  if (isJson(type)) return JSON.stringify(value);
  if (typeof value === 'string') return type === INSTANT || type === 1114 ? instant(value) : value;
  if (typeof value === 'boolean') return value ? 't' : 'f';
  if (value instanceof Date) return instant(value);
  if (value instanceof Uint8Array) return hexadecimal(value);
  if (Array.isArray(value)) return writeArray(value, elementOf.get(type) ?? 0);
  return String(value);
}

/** Reads a value that lies between two places of a message. */
export type Reader = (bytes: Buffer, start: number, end: number) => unknown;

const readText = (bytes: Buffer, start: number, end: number): string => bytes.toString('utf8', start, end);
const readAscii = (bytes: Buffer, start: number, end: number): string => bytes.toString('latin1', start, end);
const readNumber: Reader = (bytes, start, end) => Number(readAscii(bytes, start, end));

const ZERO = 48;
const MINUS = 45;

/** int8 as a number, refused past 2^53 rather than rounded; the shorter ones are always whole. */
const readInteger: Reader = (bytes, start, end) => {
  if (end - start > 15) {
    const value = Number(readAscii(bytes, start, end));
    if (!Number.isSafeInteger(value))
      throw new RangeError(`integer out of range: ${readAscii(bytes, start, end)}`);
    return value;
  }
  const negative = bytes[start] === MINUS;
  let value = 0;
  for (let at = negative ? start + 1 : start; at < end; at++) value = value * 10 + (bytes[at] ?? ZERO) - ZERO;
  return negative ? -value : value;
};

/** The engine's own parser takes years below 100 for others, or for none. Sessions are in UTC. */
const parseInstant = (text: string): Date =>
  new Date(text.endsWith('+00') ? `${text.slice(0, -3).replace(' ', 'T')}Z` : text);

const readJson: Reader = (bytes, start, end) => JSON.parse(readText(bytes, start, end));

/** Those that have no reader here, such as a date without a time, stay text: a Date would move with the time zone. */
const readers: ReadonlyMap<number, Reader> = new Map<number, Reader>([
  [16, (bytes, start) => bytes[start] === 116],
  [BYTES, (bytes, start, end) => Buffer.from(readAscii(bytes, start + 2, end), 'hex')],
  [20, readInteger],
  [21, readInteger],
  [23, readInteger],
  [26, readInteger],
  [JSON_TEXT, readJson],
  [700, readNumber],
  [701, readNumber],
  [1114, (bytes, start, end) => new Date(readAscii(bytes, start, end))],
  [INSTANT, (bytes, start, end) => parseInstant(readAscii(bytes, start, end))],
  [1700, readNumber],
  [JSONB, readJson],
]);

/** A copy of the bytes: a view would keep the larger chunk that they came in. */
const readBytes: Reader = (bytes, start, end) => Buffer.from(bytes.subarray(start, end));

/** Milliseconds from JavaScript's epoch to the server's. */
const SERVER_EPOCH = Date.UTC(2000, 0, 1);

/** The upper half of what a number holds exactly: the years from 1714 to 2285. */
const EXACT = 2 ** 21;

/** Microseconds since the server's epoch, as 64 bits; less than a millisecond is left out, as of a text. */
const readInstantBytes: Reader = (bytes, start) => {
  const upper = bytes.readInt32BE(start);
  const milliseconds =
    upper >= -EXACT && upper < EXACT
      ? Math.floor((upper * 4_294_967_296 + bytes.readUInt32BE(start + 4)) / 1_000)
      : Number(bytes.readBigInt64BE(start) / 1_000n);
  return new Date(SERVER_EPOCH + milliseconds);
};

/** How values of a column are read, by its type and by whether they come as bytes instead of text. */
export function readerOf(type: number, binary: boolean): Reader {
  if (binary) return type === INSTANT ? readInstantBytes : readBytes;
  const element = elementOf.get(type);
  if (element === undefined) return readers.get(type) ?? readText;
  const read = readers.get(element);
  const parse = read && ((text: string) => readPart(read, text));
  return (bytes, start, end) => parseArray(readText(bytes, start, end), parse);
}

function readPart(read: Reader, text: string): unknown {
  const bytes = Buffer.from(text);
  return read(bytes, 0, bytes.length);
}

const quotedPart = /"(?:[^"\\]|\\.)*"/sy;
const plainPart = /[^,{}]+/y;

/** An array's text: `{1,NULL,"a \"word\"",{2}}`. */
function parseArray(text: string, parse: ((text: string) => unknown) | undefined): unknown[] {
  const whole: unknown[] = [];
  const open: unknown[][] = [];
  let inner = whole;
  // What stands before the first brace are bounds that do not begin at one.
  for (let at = text.indexOf('{') + 1; at < text.length; at++) {
    const sign = text[at];
    if (sign === ',') continue;
    if (sign === '{') {
      const deeper: unknown[] = [];
      inner.push(deeper);
      open.push(inner);
      inner = deeper;
    } else if (sign === '}') inner = open.pop() ?? whole;
    else {
      const pattern = sign === '"' ? quotedPart : plainPart;
      pattern.lastIndex = at;
      const part = pattern.exec(text)?.[0] ?? '';
      at += part.length - 1;
      const value = sign === '"' ? part.slice(1, -1).replace(/\\(.)/gs, '$1') : part;
      inner.push(part === 'NULL' ? null : parse ? parse(value) : value);
    }
  }
  return whole;
}
