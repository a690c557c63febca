/** Templates of commit messages and descriptions: text with variables such as `%{title}` (facts-merge-requests §4.3). Pure. */

const variables = [
  'source_branch',
  'target_branch',
  'title',
  'issues',
  'description',
  'reference',
  'local_reference',
  'source_project_id',
  'first_commit',
  'first_multiline_commit',
  'first_multiline_commit_description',
  'url',
  'reviewed_by',
  'approved_by',
  'merged_by',
  'co_authored_by',
  'merge_request_author',
  'all_commits',
] as const;
export type Variable = (typeof variables)[number];

const known: ReadonlySet<string> = new Set(variables);
const isVariable = (name: string): name is Variable => known.has(name);

/** Each is called once at most, and only if the template has the variable; what is missing stays as written. */
export type Values = Partial<Record<Variable, () => string>>;
/** A variable's value; undefined for what is none, and stays as written. */
type ValueFor = (name: string) => string | undefined;

const placeholder = /%\{([a-z_]{1,40})\}/g;
const onlyPlaceholder = /^%\{([a-z_]{1,40})\}\r?$/;
const isBlank = (line: string | undefined): boolean => line === '' || line === '\r';

/**
 * The template without the lines that have nothing but an empty variable, and without the empty line before them where
 * an empty line or the end follows. Such lines in a row are as one.
 */
function withoutEmptyLines(template: string, valueFor: ValueFor): string {
  const kept: string[] = [];
  let isAfterRemoved = false;
  const closeGap = (next: string): void => {
    if (isAfterRemoved && isBlank(next) && isBlank(kept.at(-1))) kept.pop();
    isAfterRemoved = false;
  };
  for (const line of template.split('\n')) {
    const [, name = ''] = onlyPlaceholder.exec(line) ?? [];
    if (valueFor(name)?.trim() === '') {
      isAfterRemoved = true;
      continue;
    }
    closeGap(line);
    kept.push(line);
  }
  closeGap('');
  return kept.join('\n');
}

/**
 * The template with the values of its variables, of which none is looked through again. At most `maxLength` UTF-16 units:
 * a short template may repeat a long value.
 */
export function fillIn(template: string, values: Values, maxLength: number): string {
  const found = new Map<string, string>();
  const valueFor: ValueFor = (name) => {
    if (!isVariable(name)) return undefined;
    const value = found.get(name) ?? values[name]?.();
    if (value !== undefined) found.set(name, value);
    return value;
  };
  const text = withoutEmptyLines(template, valueFor);
  const parts: string[] = [];
  let length = 0;
  let from = 0;
  for (const { 0: written, 1: name = '', index } of text.matchAll(placeholder)) {
    if (length > maxLength) break;
    const value = valueFor(name) ?? written;
    parts.push(text.slice(from, index), value);
    length += index - from + value.length;
    from = index + written.length;
  }
  const filled = [...parts, text.slice(from)].join('');
  return filled.length > maxLength ? filled.slice(0, maxLength).toWellFormed() : filled;
}
