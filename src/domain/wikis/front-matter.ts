/** The block between `---` lines at the beginning of a page: plain `key: value` lines, of YAML no more than that. Pure. */

export type FrontMatter = Record<string, string | number | boolean | null>;

const block = /^---[ \t]*\r?\n(?:([\s\S]*?)\r?\n)?---[ \t]*(?:\r?\n([\s\S]*))?$/;
const line = /^([\w-]+):(?:[ \t]+(.*))?$/;

export const keyPattern = '^[A-Za-z0-9_-]+$';
const KEY = new RegExp(keyPattern);

/** Whether the text can be a key here. */
export const isKey = (text: string): boolean => KEY.test(text);

/** A text split into front matter and content; a block with more than plain lines is left in the text. */
export function splitFrontMatter(text: string): { frontMatter: FrontMatter; content: string } {
  const whole = { frontMatter: {}, content: text };
  const [matched, lines = '', content = ''] = block.exec(text) ?? [];
  if (matched === undefined) return whole;
  const entries: [string, FrontMatter[string]][] = [];
  for (const each of lines.split(/\r?\n/)) {
    if (each.trim() === '') continue;
    const [, key, scalar = ''] = line.exec(each) ?? [];
    const value = parseScalar(scalar.trim());
    if (key === undefined || value === undefined) return whole;
    entries.push([key, value]);
  }
  return { frontMatter: Object.fromEntries(entries), content };
}

/** The content below its front matter; without any, the content alone. */
export function joinFrontMatter(frontMatter: Readonly<Record<string, string>>, content: string): string {
  const lines = Object.entries(frontMatter)
    .filter(([, value]) => value !== '')
    .map(([key, value]) => `${key}: ${parseScalar(value) === value ? value : JSON.stringify(value)}\n`);
  return lines.length === 0 ? content : `---\n${lines.join('')}---\n${content}`;
}

/** The value of a scalar on one line; undefined for a line that YAML reads as something else. */
function parseScalar(text: string): FrontMatter[string] | undefined {
  if (/^(|~|null)$/i.test(text)) return null;
  if (/^(true|false)$/i.test(text)) return text.toLowerCase() === 'true';
  if (/^-?\d{1,15}$/.test(text)) return Number(text);
  if (/^'(?:[^']|'')*'$/.test(text)) return text.slice(1, -1).replaceAll("''", "'");
  if (text.startsWith('"')) return parseQuoted(text);
  // Indicators, comments and nested mappings are not plain, nor is white space around it or a line break inside.
  if (/^[-?:,[\]{}#&*!|>'%@`\s]|: |:$|\s#|\s$|[^\P{Cc}\t]/u.test(text)) return undefined;
  return text;
}

function parseQuoted(text: string): string | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'string' ? value : undefined;
  } catch {
    return undefined;
  }
}
