/** Values from a client that are as long, as many or as deep as their bounds let them be. */
import type { TSchema } from 'typebox';

const COMBINING = '\u0301';

/** Pieces that, repeated, are the worst for some way to read a text. */
const pieces = {
  'one line': 'x',
  'short lines': 'a\n',
  'empty lines': '\n',
  spaces: ' ',
  digits: '9',
  dots: 'a.',
  commas: 'a,b',
  slashes: '/a',
  'combining marks': COMBINING,
  'pairs of surrogates': '\u{1f600}',
  brackets: '[',
  'unclosed links': '[a](',
  'unclosed pictures': '![[]()',
  links: '[a](b "c") ',
  'link definitions': '[a]: b\n',
  addresses: 'http://a.b/c ',
  'one address': 'http://a.',
  'mail addresses': 'a@b.c ',
  emphasis: '*a_ ',
  'opened emphasis': '**a ~~b ',
  backticks: '`a``',
  fences: '```\na\n',
  quotes: '>',
  'quoted lines': '> a\n>> b\n',
  'list items': '- a\n',
  'lists in lists': '- ',
  'table cells': '|a',
  'table rows': '|a|\n|-|\n|b|\n',
  headings: '# a\n',
  'HTML tags': '<b>',
  'unclosed HTML': '<a href="',
  'HTML comments': '<!-- ',
  entities: '&amp;&#',
  mentions: '@person-1 ',
  'mentions of the unknown': '@a-b ',
  references: '#1 &1 !1 ~1 %1 $1 ',
  'long references': 'world/world#1 ',
  labels: '~"person-1" ',
  emoji: ':tada: ',
  'quick actions': '/label ~a\n',
  'assigning actions': '/assign @person-1\n',
  'task items': '- [ ] a\n',
  formulas: '$`a`$ ',
  'commits and colours': 'deadbeef #00ff00 ',
  'regular expressions': '(a+)+$',
  wildcards: '%_*',
  escapes: '\\',
  'control characters': '\u0001',
  'letters that grow': '\u0130\ufb03',
  'words of search': 'person ',
  base64: 'QUJD',
} as const;

type Kind = keyof typeof pieces;

/** Nested: each deeper than the one before, so that the text grows with the square of the depth. */
const nested = {
  'deepening lists': (depth: number) => `${' '.repeat(2 * depth)}- a\n`,
  'deepening quotes': (depth: number) => `${'>'.repeat(depth)} a\n`,
  'longer backticks': (depth: number) => `${'`'.repeat(depth)}a`,
};

/** The kinds for short texts, without the long pieces. */
const shortKinds: readonly Kind[] = [
  'one line',
  'short lines',
  'spaces',
  'digits',
  'dots',
  'slashes',
  'combining marks',
  'unclosed HTML',
  'regular expressions',
  'wildcards',
];
/** Runs that a pattern may read once for each of their letters, where something else follows than it looks for. */
const runs: readonly Kind[] = ['spaces', 'empty lines', 'slashes', 'dots', 'digits', 'one line', 'escapes'];
/** The kinds for bodies of tens of MiB. */
const largeKinds: readonly Kind[] = ['one line', 'short lines', 'combining marks', 'base64'];
const SHORT = 10_000;
const LARGE = 4_194_304;
/** Values that JSON may have, less those around them. */
const MAX_VALUES = 99_000;

const jsonBytes = (value: unknown): number => Buffer.byteLength(JSON.stringify(value));

/** The text, truncated to the part that JSON of so many bytes holds, and to `most` characters. */
function cut(text: string, bytes: number, most = Number.POSITIVE_INFINITY): string {
  let fitting = [...text.slice(0, 2 * Math.min(most, bytes))].slice(0, most).join('');
  for (let size = jsonBytes(fitting); size > bytes; size = jsonBytes(fitting))
    fitting = fitting.slice(0, Math.floor((fitting.length * bytes) / size) - 1);
  return fitting;
}

function growing(line: (depth: number) => string, length: number): string {
  const lines: string[] = [];
  for (let depth = 1, size = 0; size < length; depth += 1) {
    const next = line(depth);
    lines.push(next);
    size += next.length;
  }
  return lines.join('');
}

/** By their bounds, which many parameters share: making the texts costs more than sending them. */
const madeTexts = new Map<string, readonly [string, string][]>();

/** Texts of every kind, at the limit. */
export function hostileTexts(bytes: number, most = Number.POSITIVE_INFINITY): readonly [string, string][] {
  const key = `${bytes} ${most}`;
  const texts = madeTexts.get(key) ?? [...makeTexts(bytes, most)];
  if (bytes <= LARGE) madeTexts.set(key, texts);
  return texts;
}

function* makeTexts(bytes: number, most: number): Generator<[string, string]> {
  const length = Math.min(bytes, most);
  const kinds = length <= SHORT ? shortKinds : length > LARGE ? largeKinds : (Object.keys(pieces) as Kind[]);
  for (const kind of kinds) {
    const piece = pieces[kind];
    yield [kind, cut(piece.repeat(Math.ceil(length / piece.length)), bytes, most)];
  }
  for (const kind of runs)
    yield [`${kind} and a sign`, `x${cut(pieces[kind].repeat(length), bytes - 2, most - 2)}!`];
  if (length <= SHORT || length > LARGE) return;
  for (const [kind, line] of Object.entries(nested)) yield [kind, cut(growing(line, length), bytes, most)];
}

type Node = {
  type?: string | readonly string[];
  enum?: unknown;
  format?: string;
  maxLength?: number;
  maxItems?: number;
  items?: TSchema;
  properties?: Record<string, TSchema>;
  commaSeparated?: boolean;
};

/** Arrays of deep ones, as many as fit. */
const deep = (values: number): unknown[] => {
  const one: unknown = JSON.parse(`${'['.repeat(90)}${']'.repeat(90)}`);
  return Array.from({ length: Math.floor(values / 90) }, () => one);
};

const numbered = (count: number): string[] => Array.from({ length: count }, (_, index) => `a${index}`);

/** An entry of a list, whose texts have so many bytes between them. */
function entry(schema: TSchema | undefined, index: number, bytes: number): unknown {
  const node = (schema ?? {}) as Node; // TypeBox's schemas are JSON Schema
  if (Array.isArray(node.enum)) return node.enum[index % node.enum.length];
  const types = [node.type ?? 'string'].flat();
  if (types.includes('integer')) return index + 1;
  if (types.includes('boolean')) return true;
  if (!types.includes('object')) return `a${index}`.padEnd(Math.min(bytes, node.maxLength ?? bytes), 'x');
  const fields = Object.entries(node.properties ?? {});
  return Object.fromEntries(
    fields.map(([name, field]) => [name, entry(field, index, Math.floor(bytes / fields.length))]),
  );
}

function* hostileLists(node: Node, bytes: number): Generator<[string, unknown]> {
  const many = node.maxItems ?? MAX_VALUES / 2;
  for (const [kind, count, room] of [
    ['as many entries as are taken', many, 12],
    ['as long entries as are taken', Math.min(many, 1_000), bytes / Math.min(many, 1_000) - 30],
  ] as const) {
    const list = Array.from({ length: count }, (_, index) => entry(node.items, index, Math.floor(room)));
    while (jsonBytes(list) > bytes) list.length = Math.floor(list.length * 0.9);
    yield [kind, list];
  }
  if (node.commaSeparated) yield ['a text of many entries', cut('a,b'.repeat(bytes / 3), bytes)];
}

function* hostileObjects(bytes: number): Generator<[string, unknown]> {
  yield ['deep lists', deep(MAX_VALUES)];
  const names = numbered(Math.floor(Math.min(MAX_VALUES / 2, bytes / 12)));
  yield ['many names', Object.fromEntries(names.map((name) => [name, 1]))];
  yield ['a long name', { [cut('x'.repeat(bytes), bytes)]: 1 }];
  yield ['a long text', { title: cut('x'.repeat(bytes), bytes) }];
  yield ['many short lines', { title: cut('a\n'.repeat(bytes / 2), bytes) }];
}

/** The most costly values of a parameter, each with a word for it; nothing for one of few values. */
export function* hostileValues(schema: TSchema, bytes: number): Generator<[string, unknown]> {
  const node = schema as Node; // TypeBox's schemas are JSON Schema
  if (node.enum !== undefined) return;
  const types = [node.type ?? ['string', 'object']].flat();
  if (types.includes('array')) yield* hostileLists(node, bytes);
  if (types.includes('object')) yield* hostileObjects(bytes);
  if (types.includes('string') && node.format !== 'binary') yield* hostileTexts(bytes, node.maxLength);
}

/** Parameters that no endpoint knows, as a JSON body. */
export function* hostileBodies(bytes: number): Generator<[string, unknown]> {
  for (const [kind, value] of hostileObjects(bytes))
    yield [kind, Array.isArray(value) ? { unknown: value } : value];
}
