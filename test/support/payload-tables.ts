/** Reads the tables of test/contract/hook-payloads.md, and holds payloads against them. */

type Condition = (table: object) => boolean | 'may';
type Row = { field: string; type: string; isNull: Condition; isAbsent: Condition };
type Table = { heading: string; rows: Row[] };
export type PayloadTables = ReadonlyMap<string, Table>;

const valueAt = (from: unknown, path: string): unknown =>
  path
    .split('.')
    .reduce<unknown>((value, name) => (value as Record<string, unknown> | undefined)?.[name], from);

/** `may`, nothing for never, or `field is "a" or "b"`, also with `not`: then it is so there, and nowhere else. */
function readCondition(text: string): Condition {
  if (text === '') return () => false;
  if (text === 'may') return () => 'may';
  const [, field = '', not, values] = /^(\S+) is (not )?(".*")$/.exec(text) ?? [];
  if (values === undefined) throw new Error(`no condition: ${text}`);
  const those = values.split(' or ').map((value) => JSON.parse(value));
  return (table) => those.includes(valueAt(table, field)) !== Boolean(not);
}

/** The tables by their headings; one that is for several events, `Hook: a, b`, by each of them. */
export function readPayloadTables(markdown: string): PayloadTables {
  const tables = new Map<string, Table>();
  let rows: Row[] = [];
  for (const line of markdown.split('\n')) {
    const [, heading] = /^##+ (.*)$/.exec(line) ?? [];
    if (heading !== undefined) {
      rows = [];
      const [header, events] = heading.split(': ');
      for (const name of events ? events.split(', ').map((event) => `${header}: ${event}`) : [heading])
        tables.set(name, { heading, rows });
    }
    const cells = line.startsWith('| ') ? line.split('|').map((cell) => cell.trim()) : [];
    const [, field, type, isNull, isAbsent] = cells;
    if (field && type && field !== 'field' && field !== '---')
      rows.push({
        field,
        type,
        isNull: readCondition(isNull ?? ''),
        isAbsent: readCondition(isAbsent ?? ''),
      });
  }
  return tables;
}

const matching = (pattern: RegExp) => (value: unknown) => typeof value === 'string' && pattern.test(value);

const kinds: Readonly<Record<string, (value: unknown) => boolean>> = {
  integer: Number.isSafeInteger,
  number: Number.isFinite,
  string: (value) => typeof value === 'string',
  boolean: (value) => typeof value === 'boolean',
  object: (value) => typeof value === 'object' && value !== null && !Array.isArray(value),
  nothing: () => false,
  sha: matching(/^[0-9a-f]{40}$/),
  email: matching(/^[^@\s]+@[^@\s]+$/),
  url: matching(/^https?:\/\/[^\s/]+(\/\S*)?$/),
  time: matching(/^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d UTC$/),
  iso: matching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(Z|[+-]\d\d:\d\d)$/),
  day: matching(/^\d{4}-\d\d-\d\d$/),
};

const rowName = (heading: string | undefined, field: string) => `${heading}: ${field}`;

export const rowsOf = (tables: PayloadTables): string[] => [
  ...new Set(
    [...tables.values()].flatMap(({ heading, rows }) => rows.map(({ field }) => rowName(heading, field))),
  ),
];

/** What is wrong with a value as a thing of this table, and with all in it; `saw` hears of each row that had a value. */
export function payloadProblems(
  tables: PayloadTables,
  name: string,
  value: unknown,
  saw: (row: string) => void = () => {},
): string[] {
  const { heading, rows } = tables.get(name) ?? {};
  if (!rows) return [`${name}: no table`];
  if (!kinds.object?.(value)) return [`${name}: no object`];
  const table = value as object;

  const typeProblems = (type: string, found: unknown): string[] => {
    if (type.startsWith('changed ')) {
      const { previous, current, ...more } = found as Record<string, unknown>;
      const both = [previous, current].flatMap((each) =>
        each === null ? [] : typeProblems(type.slice('changed '.length), each),
      );
      return Object.keys(more).length > 0 ? [...both, 'more than previous and current'] : both;
    }
    if (type.startsWith('[')) {
      if (!Array.isArray(found)) return ['no list'];
      return found.flatMap((each) => typeProblems(type.slice(1, -1), each));
    }
    const choices = type.split(' or ');
    if (choices.length > 1)
      return choices.some((each) => typeProblems(each, found).length === 0)
        ? []
        : [`${JSON.stringify(found)} is no ${type}`];
    if (tables.has(type)) return payloadProblems(tables, type, found, saw);
    const fits = kinds[type]?.(found) ?? JSON.parse(type) === found;
    return fits ? [] : [`${JSON.stringify(found)} is no ${type}`];
  };

  const inObject = (object: Record<string, unknown>, prefix: string): string[] => {
    const mine = rows.filter(
      ({ field }) => field.startsWith(prefix) && !field.slice(prefix.length).includes('.'),
    );
    const keys = mine.map(({ field }) => field.slice(prefix.length));
    const more = Object.keys(object).filter((key) => !keys.includes(key));
    return [
      ...more.map((key) => `${name}: ${prefix}${key} is in no table`),
      ...mine.flatMap(({ field, type, isNull, isAbsent }) => {
        const found = object[field.slice(prefix.length)];
        const wrong = (problems: string[]) => problems.map((problem) => `${name}: ${field}: ${problem}`);
        const absent = isAbsent(table);
        if (found === undefined) return absent ? [] : wrong(['absent']);
        if (absent === true) return wrong(['not absent']);
        const nothing = isNull(table);
        if (found === null) return nothing ? [] : wrong(['null']);
        if (nothing === true) return wrong(['not null']);
        saw(rowName(heading, field));
        const own = rows.some((row) => row.field.startsWith(`${field}.`));
        return [
          ...wrong(typeProblems(type, found)),
          ...(own ? inObject(found as Record<string, unknown>, `${field}.`) : []),
        ];
      }),
    ];
  };
  return inObject(table as Record<string, unknown>, '');
}
