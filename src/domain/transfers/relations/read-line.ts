/** Reads a line of a relation: rows to be inserted, and what is wrong with it in words. Pure. */
import { isStorable } from '../../../platform/characters.ts';
import { now } from '../../../platform/clock.ts';
import { isRefName, pathComponents, shortRef } from '../../../platform/git/names.ts';
import { randomHex } from '../../../platform/secret.ts';
import { countReactions } from './planning-relations.ts';
import {
  type Attribute,
  childrenIn,
  type JsonObject,
  type Kind,
  type NewRow,
  type Relation,
} from './relation.ts';

/** What the names in lines stand for, at the place of the import. */
export type References = {
  /** The project or group. */
  owner: number;
  importer: number;
  /** The user here of a user there. */
  user(id: number): number | undefined;
  /** The name of a user there, for the note about an author who is unknown here. */
  nameOf(id: number): string | undefined;
  label(title: string): number | undefined;
  milestone(title: string): number | undefined;
  numbered(kind: 'issue' | 'merge_request', iid: number): number | undefined;
  /** Texts name uploads, whose addresses may be others here. */
  rewrite(text: string): string;
};

export type ReadRecord = { row: NewRow; children: { relation: Relation; records: ReadRecord[] }[] };
/** Something that was not read: it is reported, and the rest goes on. */
export type Problem = { relation: string; text: string };
export type ReadLine = { record: ReadRecord | undefined; problems: Problem[] };

/** A value, its absence, a failure, or the silent end of its record. */
type Read = { value: unknown } | { problem: string } | { skip: true };

const DAY_MS = 86_400_000;
const FIRST_TIME = Date.UTC(1970);

const isoTime = /^\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(?:\.\d{1,9})?(?:Z|[+-]\d\d:?\d\d| UTC)$/;

function readTime(value: unknown): Read {
  if (typeof value !== 'string' || !isoTime.test(value)) return { problem: 'is no time' };
  const time = Date.parse(value);
  if (Number.isNaN(time) || time < FIRST_TIME) return { problem: 'is no time' };
  if (time > now().getTime() + DAY_MS) return { problem: 'is in the future' };
  return { value: new Date(time).toISOString() };
}

function readDate(value: unknown): Read {
  const isDate = typeof value === 'string' && /^\d{4}-\d\d-\d\d$/.test(value);
  const parsed = isDate ? new Date(`${value}T00:00:00Z`) : undefined;
  // The 31st of February is another day.
  return parsed && !Number.isNaN(parsed.getTime()) && parsed.toISOString().startsWith(value as string)
    ? { value }
    : { problem: 'is no date' };
}

function readText(
  value: unknown,
  { maximum, pattern }: Kind & { of: 'text' },
  rewrite: References['rewrite'],
): Read {
  if (typeof value !== 'string') return { problem: 'is no text' };
  if (value.length > maximum) return { problem: `is too long (maximum is ${maximum} characters)` };
  if (!isStorable(value)) return { problem: 'has characters that cannot be stored' };
  if (pattern && !pattern.test(value)) return { problem: 'is invalid' };
  return { value: maximum > 1_000 ? rewrite(value) : value };
}

const ofMergeRequest = /^refs\/merge-requests\/\d{1,9}\/(?:head|merge|train)$/;

const readRef = (value: unknown): Read =>
  typeof value === 'string' &&
  value.length <= 255 &&
  (isRefName(shortRef(value)?.name ?? value) || ofMergeRequest.test(value))
    ? { value }
    : { problem: 'is no name of a branch or tag' };

const isId = (value: unknown): value is number => Number.isSafeInteger(value) && (value as number) > 0;

const positionTypes = ['text', 'image', 'file'];
const isPath = (value: unknown): boolean =>
  value === null ||
  value === undefined ||
  (typeof value === 'string' && isStorable(value) && pathComponents(value) !== undefined);
const isSha = (value: unknown) => typeof value === 'string' && /^[0-9a-f]{40}(?:[0-9a-f]{24})?$/.test(value);
const isLine = (value: unknown) => value === null || value === undefined || isId(value);
const isMeasure = (value: unknown) =>
  value === null || value === undefined || (typeof value === 'number' && Number.isFinite(value));

/** A place in a diff: what belongs to one, and nothing else. */
function readPosition(value: unknown): Read {
  const problem = { problem: 'is no position' };
  if (typeof value !== 'object' || value === null) return problem;
  const { base_sha, start_sha, head_sha, old_path, new_path, position_type, old_line, new_line } =
    value as JsonObject;
  const { width, height, x, y, line_range } = value as JsonObject;
  const isWhole =
    [base_sha, start_sha, head_sha].every(isSha) &&
    [old_path, new_path].every(isPath) &&
    [old_line, new_line].every(isLine) &&
    [width, height, x, y].every(isMeasure) &&
    typeof position_type === 'string' &&
    positionTypes.includes(position_type);
  if (!isWhole) return problem;
  const range = readRange(line_range);
  return {
    value: {
      ...{
        base_sha,
        start_sha,
        head_sha,
        old_path: old_path ?? null,
        new_path: new_path ?? null,
        position_type,
      },
      ...(position_type === 'text' && { old_line: old_line ?? null, new_line: new_line ?? null }),
      ...(position_type === 'text' && { line_range: range }),
      ...(position_type === 'image' && { width, height, x, y }),
    },
  };
}

type LineEnd = { line_code: string; type: string | null; old_line: number | null; new_line: number | null };

function readEnd(value: unknown): LineEnd | undefined {
  if (typeof value !== 'object' || value === null) return undefined;
  const { line_code, type, old_line, new_line } = value as JsonObject;
  if (typeof line_code !== 'string' || !/^[0-9a-f]{40}_\d+_\d+$/.test(line_code)) return undefined;
  if (![old_line, new_line].every(isLine)) return undefined;
  return {
    line_code,
    type: type === 'new' || type === 'old' ? type : null,
    old_line: (old_line as number | undefined) ?? null,
    new_line: (new_line as number | undefined) ?? null,
  };
}

function readRange(value: unknown): { start: LineEnd; end: LineEnd } | null {
  if (typeof value !== 'object' || value === null) return null;
  const start = readEnd((value as JsonObject).start);
  const end = readEnd((value as JsonObject).end);
  return start && end ? { start, end } : null;
}

const titleOf = (value: unknown): string | undefined => {
  const { title, name } = (typeof value === 'object' && value !== null ? value : {}) as JsonObject;
  const text = title ?? name;
  return typeof text === 'string' && text !== '' ? text : undefined;
};

export const iidOf = (value: unknown): unknown =>
  typeof value === 'object' && value !== null ? (value as JsonObject).iid : value;

const known = (value: number | undefined): Read =>
  value === undefined ? { problem: 'is not in the archive' } : { value };

function readValue(value: unknown, kind: Kind, references: References): Read {
  switch (kind.of) {
    case 'text':
      return readText(value, kind, references.rewrite);
    case 'ref':
      return readRef(value);
    case 'integer':
      return typeof value === 'number' &&
        Number.isInteger(value) &&
        value >= kind.minimum &&
        value <= kind.maximum
        ? { value }
        : { problem: `is no whole number from ${kind.minimum} to ${kind.maximum}` };
    case 'boolean':
      return typeof value === 'boolean' ? { value } : { problem: 'is neither true nor false' };
    case 'time':
      return readTime(value);
    case 'date':
      return readDate(value);
    case 'choice':
      if (typeof value === 'string' && kind.values.includes(value)) return { value };
      return kind.otherwise === undefined
        ? { problem: `is none of ${kind.values.join(', ')}` }
        : { value: kind.otherwise };
    case 'names':
      return Array.isArray(value) &&
        value.length <= kind.maximum &&
        value.every((name) => typeof name === 'string' && isPath(name))
        ? { value }
        : { problem: 'is no list of names' };
    case 'position':
      return readPosition(value);
    case 'author':
      return isId(value)
        ? { value: references.user(value) ?? references.importer }
        : { problem: 'is no user' };
    case 'user': {
      const user = isId(value) ? references.user(value) : undefined;
      return user === undefined ? { skip: true } : { value: user };
    }
    case 'member': {
      const { id } = (typeof value === 'object' && value !== null ? value : {}) as JsonObject;
      const user = isId(id) ? references.user(id) : undefined;
      return user === undefined ? { skip: true } : { value: user };
    }
    case 'label':
    case 'milestone': {
      const title = titleOf(value);
      return title === undefined ? { problem: 'has no title' } : known(references[kind.of](title));
    }
    case 'issue':
    case 'merge_request': {
      const iid = iidOf(value);
      return isId(iid) ? known(references.numbered(kind.of, iid)) : { problem: 'is no number' };
    }
    // All are there before one is put inside of another.
    case 'epic':
    case 'computed':
      return { skip: true };
  }
}

function otherwiseOf({ otherwise }: Attribute): unknown {
  if (otherwise === 'now') return now().toISOString();
  if (otherwise === 'new') return randomHex(20);
  return otherwise === 'none' ? [] : otherwise;
}

/** Punctuation that Markdown, or a reference, begins with. */
const marks = /[\\`*_{}[\]()<>#+!|~@&$%^.:/-]/g;

/** The words that stand before a text whose author is unknown here. */
export const attributionOf = (name: string, createdAt: string): string =>
  `*By ${name.replaceAll(/\s+/g, ' ').slice(0, 255).replaceAll(marks, '\\$&')} on ${createdAt} (imported)*`;

/** Tables whose texts say by whom they were. */
const attributed: Readonly<Record<string, string>> = {
  notes: 'body',
  issues: 'description',
  merge_requests: 'description',
  epics: 'description',
  snippets: 'description',
};

function attribute(relation: Relation, row: NewRow, line: JsonObject, references: References): void {
  const column = attributed[relation.table];
  const id = line.author_id;
  if (column === undefined || row.system_action || !isId(id) || references.user(id) !== undefined) return;
  const own = line.author as JsonObject | null | undefined;
  const name = references.nameOf(id) ?? (typeof own?.name === 'string' ? own.name : undefined);
  if (name === undefined || !isStorable(name)) return;
  const parts = [attributionOf(name, String(row.created_at)), row[column]];
  row[column] = parts.filter((part) => typeof part === 'string' && part !== '').join('\n\n');
}

/** The columns of a record; undefined where it is left out. */
function readRow(
  relation: Relation,
  line: JsonObject,
  references: References,
  problems: Problem[],
): NewRow | undefined {
  const row: NewRow = { ...relation.constants };
  for (const each of relation.attributes) {
    if (each.kind.of === 'computed') continue;
    const given = line[each.name];
    const isMissing = given === undefined || given === null;
    if (
      isMissing &&
      each.otherwise === undefined &&
      each.required &&
      each.kind.of !== 'user' &&
      each.kind.of !== 'author' &&
      each.kind.of !== 'member'
    ) {
      problems.push({ relation: relation.name, text: `${each.name} is missing` });
      return undefined;
    }
    if (isMissing) {
      if (each.required && (each.kind.of === 'user' || each.kind.of === 'member')) return undefined;
      row[each.column] =
        each.required && each.kind.of === 'author' ? references.importer : (otherwiseOf(each) ?? null);
      continue;
    }
    const read = readValue(given, each.kind, references);
    if ('value' in read) row[each.column] = read.value;
    else if ('skip' in read) {
      if (each.required) return undefined;
      row[each.column] = null;
    } else {
      problems.push({ relation: relation.name, text: `${each.name} ${read.problem}` });
      if (each.required) return undefined;
      row[each.column] = null;
    }
  }
  return row;
}

function readRecord(
  relation: Relation,
  given: JsonObject,
  references: References,
  problems: Problem[],
): ReadRecord | undefined {
  const line = relation.from?.(given) ?? given;
  const row = readRow(relation, line, references, problems);
  if (!row) return undefined;
  attribute(relation, row, line, references);
  const children = (relation.children ?? []).map((child) => {
    const found = childrenIn(line, child);
    if (!found) problems.push({ relation: child.name, text: 'is no list of records' });
    const records = (found ?? []).flatMap((one) => readRecord(child, one, references, problems) ?? []);
    return { relation: child, records };
  });
  countThose(relation, row, children);
  relation.complete?.(row, line, references.owner);
  return { row, children };
}

/** The counts of a record of work, by the children that are kept. */
function countThose(relation: Relation, row: NewRow, children: ReadRecord['children']): void {
  if (!relation.numbered || relation.numbered === 'milestone') return;
  const of = (name: string) => children.find(({ relation: child }) => child.name === name)?.records ?? [];
  row.user_notes_count = of('notes').filter(
    ({ row: note }) => note.system_action === null && note.internal === false,
  ).length;
  countReactions(row, { award_emoji: of('award_emoji').map(({ row: award }) => award) });
}

/** Names in a line that nobody reads. */
export function unknownNames(relation: Relation, line: JsonObject): string[] {
  const known = new Set([
    ...relation.attributes.map(({ name }) => name),
    ...(relation.children ?? []).map(({ name }) => name),
  ]);
  return Object.keys(line).filter((name) => !known.has(name));
}

export function readLine(relation: Relation, line: unknown, references: References): ReadLine {
  const problems: Problem[] = [];
  if (typeof line !== 'object' || line === null || Array.isArray(line))
    return { record: undefined, problems: [{ relation: relation.name, text: 'the line is no object' }] };
  const record = readRecord(relation, line as JsonObject, references, problems);
  return { record, problems };
}

/** Labels or milestones that a line names, as they stand there. */
export function namedIn(relation: Relation, given: JsonObject, kind: 'label' | 'milestone'): JsonObject[] {
  const line = relation.from?.(given) ?? given;
  const own = relation.attributes.flatMap((each) => {
    const value = each.kind.of === kind ? line[each.name] : undefined;
    return typeof value === 'object' && value !== null ? [value as JsonObject] : [];
  });
  const inside = (relation.children ?? []).flatMap((child) =>
    (childrenIn(line, child) ?? []).flatMap((one) => namedIn(child, one, kind)),
  );
  return [...own, ...inside];
}
