/** The file of a backup: which entries it has, in which order, and what is said of them. Pure; see docs/backup.md. */

export const FORMAT = 1;

export type Header = {
  format: number;
  id: string;
  created_at: string;
  /** Of the program that made it. */
  version: string;
  migrations: { name: string; digest: string }[];
  /** Tables in the order of their files, with the columns in the order of the values. */
  tables: { name: string; columns: string[] }[];
  sequences: { name: string; value: string; called: boolean }[];
  secret_key_id: string;
  /** The earlier backup that has the files which this one borrows. */
  base: { id: string; name: string } | null;
};

/** What is wrong with a file, in words for whoever named it. */
export class BadBackup extends Error {}

const identifier = /^[a-z_][a-z0-9_]{0,62}$/;

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null;
const isText = (value: unknown): value is string => typeof value === 'string';
const all = <T>(value: unknown, is: (item: Record<string, unknown>) => boolean): value is T[] =>
  Array.isArray(value) && value.every((item) => isObject(item) && is(item));
const isBase = (value: unknown): boolean =>
  value === null || (isObject(value) && isText(value.id) && isText(value.name) && isFileName(value.name));
/** Of a file in the same folder, which nobody can lead elsewhere by it. */
const isFileName = (name: string): boolean => /^[^/\\\0]{1,255}$/.test(name) && name !== '.' && name !== '..';
const isName = (value: unknown): boolean => isText(value) && identifier.test(value);

/** Throws BadBackup for what is none, and for a later format. */
export function parseHeader(text: string): Header {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw new BadBackup('it is no backup of Ashlar: its header cannot be read');
  }
  if (!isObject(value) || !Number.isInteger(value.format))
    throw new BadBackup('it is no backup of Ashlar: its header has no format');
  if (Number(value.format) > FORMAT)
    throw new BadBackup(`it has format ${value.format}, which a later version of the program reads`);
  const isWhole =
    value.format === FORMAT &&
    [value.id, value.created_at, value.version, value.secret_key_id].every(isText) &&
    isBase(value.base) &&
    all(value.migrations, ({ name, digest }) => isText(name) && isText(digest)) &&
    all(
      value.tables,
      ({ name, columns }) => isName(name) && Array.isArray(columns) && columns.every(isName),
    ) &&
    all(
      value.sequences,
      (each) =>
        isName(each.name) && /^\d{1,19}$/.test(String(each.value)) && typeof each.called === 'boolean',
    );
  if (!isWhole) throw new BadBackup('its header is damaged');
  return value as Header;
}

export type Entry =
  | { kind: 'header' }
  | { kind: 'secret-key' }
  | { kind: 'jobs'; part: number }
  | { kind: 'manifest'; part: number }
  | { kind: 'end' }
  | { kind: 'table'; table: string; part: number }
  | { kind: 'head'; repository: string }
  | { kind: 'refs'; repository: string }
  | { kind: 'object'; repository: string; file: string }
  | { kind: 'blob'; sha256: string }
  | { kind: 'trace'; job: string };

const shapes: readonly [RegExp, (found: Record<string, string>) => Entry][] = [
  [
    /^(?<kind>header\.json|secret-key|end\.json)$/,
    ({ kind = '' }) => ({ kind: kind.replace('.json', '') as 'header' }),
  ],
  [
    /^(?<kind>manifest|jobs)\/(?<part>\d{6})$/,
    ({ kind, part }) => ({ kind: kind as 'manifest', part: Number(part) }),
  ],
  [
    /^tables\/(?<table>[a-z_][a-z0-9_]{0,62})\/(?<part>\d{6})$/,
    ({ table = '', part }) => ({ kind: 'table', table, part: Number(part) }),
  ],
  [
    /^repositories\/(?<repository>\d{1,16})\/(?<kind>HEAD|refs)$/,
    ({ repository = '', kind }) =>
      kind === 'HEAD' ? { kind: 'head', repository } : { kind: 'refs', repository },
  ],
  [
    /^repositories\/(?<repository>\d{1,16})\/objects\/(?<file>[0-9a-f]{2}\/[0-9a-f]{38,62}|pack\/pack-[0-9a-f]{40,64}\.(?:pack|idx|rev|bitmap|mtimes))$/,
    ({ repository = '', file = '' }) => ({ kind: 'object', repository, file }),
  ],
  [/^blobs\/(?<sha256>[0-9a-f]{64})$/, ({ sha256 = '' }) => ({ kind: 'blob', sha256 })],
  [/^traces\/(?<job>\d{1,16})$/, ({ job = '' }) => ({ kind: 'trace', job })],
];

/** What an entry's name says. Throws BadBackup for any that a backup has not: no other name ever reaches the disk. */
export function parseEntry(name: string): Entry {
  for (const [shape, make] of shapes) {
    const found = shape.exec(name);
    if (found?.groups) return make(found.groups);
  }
  throw new BadBackup(`it has an entry that no backup has: ${JSON.stringify(name.slice(0, 100))}`);
}

const ranks: Record<Entry['kind'], number> = {
  header: 0,
  'secret-key': 1,
  table: 2,
  jobs: 3,
  head: 4,
  refs: 4,
  object: 4,
  blob: 5,
  trace: 6,
  manifest: 7,
  end: 8,
};

const padded = (digits: string | number): string => String(digits).padStart(16, '0');

/** Where an entry stands in a backup, as a text that sorts. Those of one repository, head and refs and files, stand at one place. */
export function placeOf(entry: Entry): string {
  const rank = ranks[entry.kind];
  if (entry.kind === 'table') return `${rank} ${entry.table}/${padded(entry.part)}`;
  if ('part' in entry) return `${rank} ${padded(entry.part)}`;
  if ('repository' in entry) return `${rank} ${padded(entry.repository)}`;
  if (entry.kind === 'blob') return `${rank} ${entry.sha256}`;
  if (entry.kind === 'trace') return `${rank} ${padded(entry.job)}`;
  return `${rank}`;
}

/** Takes the entries of a file one after the other, and throws BadBackup for one out of order, or twice. */
export function createOrder(): (name: string, entry: Entry) => void {
  let last = '';
  /** Of the present repository. */
  let names = new Set<string>();
  let manifests = 0;
  return (name, entry) => {
    if (last === '' && entry.kind !== 'header')
      throw new BadBackup('it is no backup of Ashlar: it has no header');
    if (last === placeOf({ kind: 'end' })) throw new BadBackup('it goes on after its end');
    if (entry.kind === 'manifest') {
      if (entry.part !== manifests++) throw new BadBackup('its manifest is out of order');
      return;
    }
    const place = placeOf(entry);
    const isSameRepository = 'repository' in entry && place === last;
    if (!isSameRepository) names = new Set();
    if ((place <= last && !isSameRepository) || names.has(name))
      throw new BadBackup(`its entries are out of order, or twice, at ${name}`);
    names.add(name);
    last = place;
  };
}

export type End = { entries: number; bytes: number; sha256: string };

export type Listed = { sha256: string; size: number; name: string };

/** A line of the manifest for an entry: as `sha256sum` has it, with the size between. */
export const manifestLine = ({ sha256, size, name }: Listed): string => `${sha256} ${size} ${name}\n`;

const BORROWED = 'base ';

/** A line of the manifest for what the base has. */
export const borrowedLine = (listed: Listed): string => `${BORROWED}${manifestLine(listed)}`;

/** What a line without its end lists; undefined for what is none. */
export function parseListed(line: string): Listed | undefined {
  const [, sha256, size, name] = /^([0-9a-f]{64}) (\d{1,15}) (\S{1,300})$/.exec(line) ?? [];
  return sha256 && size && name ? { sha256, size: Number(size), name } : undefined;
}

/** Whether an entry stands before the repositories and files, whose places rows say. */
export const isOfRows = ({ kind }: Entry): boolean =>
  kind === 'secret-key' || kind === 'table' || kind === 'jobs';

/** Whether a backup may leave the entry to its base: files that never change under their names, and rows. */
export const isLendable = ({ kind }: Entry): boolean =>
  kind === 'object' || kind === 'blob' || kind === 'table';

/**
 * Compares the text of a part of the manifest with the lines of the entries before it, and returns what is borrowed. Throws
 * BadBackup where they differ.
 */
export function readManifest(text: string, own: readonly string[]): Listed[] {
  const borrowed: Listed[] = [];
  const rest: string[] = [];
  for (const line of text.match(/[^\n]*\n/g) ?? []) {
    if (!line.startsWith(BORROWED)) {
      rest.push(line);
      continue;
    }
    const listed = parseListed(line.slice(BORROWED.length, -1));
    if (!listed || !isLendable(parseEntry(listed.name))) throw new BadBackup('its manifest is damaged');
    borrowed.push(listed);
  }
  if (rest.join('') !== own.join('') || !(text === '' || text.endsWith('\n')))
    throw new BadBackup('its entries are not those that its manifest has');
  return borrowed;
}
