/** The block between `---` lines at the beginning of a page: plain `key: value` lines, of YAML no more than that. Pure. */
import {
  isScalar,
  type ParseOptions,
  parseDocument,
  type SchemaOptions,
  stringify,
  type ToStringOptions,
  YAMLMap,
} from 'yaml';

export type FrontMatter = Record<string, string | number | boolean | null>;

const block = /^---[ \t]*\r?\n(?:([\s\S]*?)\r?\n)?---[ \t]*(?:\r?\n([\s\S]*))?$/;
/** A pair without anchor, alias, tag and block; or white space. */
const line = /^(?:[\w-]+:(?:[ \t]+(?![ \t&*!|>])[^\r]*)?|\s*)$/;

export const keyPattern = '^[A-Za-z0-9_-]+$';
const KEY = new RegExp(keyPattern);

/** Whether the text can be a key here. */
export const isKey = (text: string): boolean => KEY.test(text);

/** Characters of a block at most: parsing them takes 5 ms at worst, and a list has 100 pages. */
export const MAX_FRONT_MATTER = 4_096;

const options: SchemaOptions & ParseOptions & ToStringOptions = {
  // Decimals are no numbers here: the version `1.10` stays what it is.
  schema: 'failsafe',
  customTags: ['null', 'bool', 'int'],
  // The check of keys compares each with each.
  uniqueKeys: false,
  // A value is written on one line.
  lineWidth: 0,
  blockQuote: false,
  singleQuote: false,
  doubleQuotedAsJSON: true,
};

/** A text split into front matter and content; a block with more than plain lines is left in the text. */
export function splitFrontMatter(text: string): { frontMatter: FrontMatter; content: string } {
  const [matched, lines = '', content = ''] = block.exec(text) ?? [];
  const frontMatter = matched === undefined ? undefined : parseLines(lines);
  return frontMatter ? { frontMatter, content } : { frontMatter: {}, content: text };
}

/** The content below its front matter; without any, the content alone. */
export function joinFrontMatter(frontMatter: Readonly<Record<string, string>>, content: string): string {
  const lines = Object.entries(frontMatter)
    .filter(([, value]) => value !== '')
    .map(([key, value]) => `${key}: ${stringify(value, options)}`);
  return lines.length === 0 ? content : `---\n${lines.join('')}---\n${content}`;
}

function parseLines(lines: string): FrontMatter | undefined {
  if (lines.length > MAX_FRONT_MATTER || !lines.split(/\r?\n/).every((each) => line.test(each)))
    return undefined;
  const { contents, errors } = parseDocument(lines, options);
  if (errors.length > 0) return undefined;
  const entries: [string, FrontMatter[string]][] = [];
  for (const { key, value } of contents instanceof YAMLMap ? contents.items : []) {
    if (!isScalar(key) || !isScalar(value) || value.comment) return undefined;
    // A telephone number keeps its plus sign, and a long number its last digits.
    const isText = typeof value.value === 'number' && !/^-?\d{1,15}$/.test(value.source);
    entries.push([key.source, isText ? value.source : (value.value as FrontMatter[string])]);
  }
  return Object.fromEntries(entries);
}
