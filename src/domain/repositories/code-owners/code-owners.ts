/** Code owners: the file's grammar, and the entries that changed paths need approvals by (facts: merge requests §6.4). Pure. */
import { DEVELOPER, MAINTAINER, OWNER } from '../../../kernel/policy/roles.ts';
import { mapInTurns } from '../../../platform/turns.ts';
import { createPatternIndex, type PatternIndex, type Steps } from './path-patterns.ts';

/** The section of what stands before the first heading. */
const UNNAMED_SECTION = 'codeowners';

const roles = { developer: DEVELOPER, maintainer: MAINTAINER, owner: OWNER } as const;

/** As the file names them: direct members with a role, a user or group by its path, a user by an address. */
export type CodeOwner =
  | { kind: 'role'; role: (typeof roles)[keyof typeof roles] }
  | { kind: 'path'; path: string }
  | { kind: 'email'; email: string };

export type CodeOwnersEntry = {
  /** As it is spelled first. */
  section: string;
  pattern: string;
  owners: readonly CodeOwner[];
  /** At least 1; an optional section's entries are shown and need none. */
  approvalsRequired: number;
  isOptional: boolean;
};

type Heading = { name: string; isOptional: boolean; approvalsRequired: number; owners: string };

const HEADING = /^(\^?)\[([^\]]+)\](?:\[([^\]]*)\])?/;

/** A heading; undefined for what is none, which is then an entry: a class of characters looks alike. */
function readHeading(line: string): Heading | undefined {
  const [written, optional, name = '', count = ''] = HEADING.exec(line) ?? [];
  if (written === undefined || name.trim() === '') return undefined;
  const owners = line.slice(written.length);
  if (owners !== '' && !/^[\s@]/.test(owners)) return undefined;
  const approvalsRequired = /^\d{1,9}$/.test(count) ? Math.max(1, Number(count)) : 1;
  return { name: name.trim(), isOptional: optional === '^', approvalsRequired, owners };
}

/** The pattern, as it is written, and the owners behind the first space without a backslash. */
function splitEntry(line: string): { pattern: string; owners: string } {
  let end = 0;
  while (end < line.length && !/\s/.test(line.charAt(end))) end += line.charAt(end) === '\\' ? 2 : 1;
  return { pattern: line.slice(0, end), owners: line.slice(end) };
}

function readOwner(word: string): CodeOwner[] {
  const role = /^@@(developer|maintainer|owner)s?$/i.exec(word)?.[1]?.toLowerCase();
  // The pattern admits these words alone.
  if (role !== undefined) return [{ kind: 'role', role: roles[role as keyof typeof roles] }];
  if (/^@[\w.][\w./-]*$/.test(word)) return [{ kind: 'path', path: word.slice(1) }];
  return /^[^@]+@[^@]+$/.test(word) ? [{ kind: 'email', email: word }] : [];
}

/** Owners of an entry that are asked. */
const MAX_OWNERS = 100;

/** The first owners in a text; words that name none are left out. */
const readOwners = (text: string): CodeOwner[] =>
  text
    .split(/\s+/)
    .filter((word) => word !== '')
    .flatMap(readOwner)
    .slice(0, MAX_OWNERS);

type Line = Omit<CodeOwnersEntry, 'isOptional'> & { isExclusion: boolean };

/** A file as it was read. */
export type CodeOwnersFile = {
  /** Entries and exclusions, in the order of the file. */
  lines: readonly Line[];
  /** The sections that need approvals, as they are spelled first: not every heading of theirs is optional. */
  required: ReadonlySet<string>;
  index: PatternIndex;
};

/** Reads a file by turns; there is no text that it refuses. */
export async function parseCodeOwners(text: string): Promise<CodeOwnersFile> {
  const lines: Line[] = [];
  const spellings = new Map<string, string>();
  const required = new Set<string>();
  const index = createPatternIndex();
  const open = (name: string): string => {
    const spelling = spellings.get(name.toLowerCase()) ?? name;
    spellings.set(name.toLowerCase(), spelling);
    return spelling;
  };
  let section: string | undefined;
  let approvalsRequired = 1;
  let defaults: readonly CodeOwner[] = [];
  const read = (written: string): void => {
    const line = written.replace(/\r$/, '').trimStart();
    if (line === '' || line.startsWith('#')) return;
    const heading = readHeading(line);
    if (heading) {
      section = open(heading.name);
      approvalsRequired = heading.approvalsRequired;
      defaults = readOwners(heading.owners);
      if (!heading.isOptional) required.add(section);
      return;
    }
    if (section === undefined) {
      section = open(UNNAMED_SECTION);
      required.add(section);
    }
    const isExclusion = line.startsWith('!');
    const { pattern, owners } = splitEntry(isExclusion ? line.slice(1) : line);
    if (pattern === '') return;
    const named = readOwners(owners);
    // Words that name nobody are no absence of owners, for which the section's would stand.
    const inherits = owners.trim() === '';
    index.add(pattern, lines.length);
    lines.push({ section, pattern, owners: inherits ? defaults : named, approvalsRequired, isExclusion });
  };
  await mapInTurns(text.split('\n'), read);
  return { lines, required, index };
}

/** What looking up all paths may take; a file of thousands of entries and a change of thousands of paths need less. */
const MAX_STEPS = 20_000_000;
/** What looking up one may take: nobody else is served meanwhile. */
const MAX_STEPS_OF_PATH = 250_000;

/**
 * The entries that own one of the paths, in the order of the file. In each section the last entry that a path fits owns it;
 * what an exclusion of the section fits is nobody's there, wherever the exclusion stands. Undefined where finding them takes
 * too much.
 */
export async function entriesOwning(
  { lines, required, index }: CodeOwnersFile,
  paths: readonly string[],
): Promise<CodeOwnersEntry[] | undefined> {
  const owning = new Set<number>();
  let left = MAX_STEPS;
  await mapInTurns(paths, (path) => {
    if (left < 0) return;
    const steps: Steps = { left: MAX_STEPS_OF_PATH };
    const places = index.find(path, steps);
    left = places ? left - (MAX_STEPS_OF_PATH - steps.left) - places.length : -1;
    const last = new Map<string, number>();
    const excluded = new Set<string>();
    for (const place of places ?? []) {
      const line = lines[place];
      if (line?.isExclusion) excluded.add(line.section);
      else if (line) last.set(line.section, place);
    }
    for (const [section, place] of last) if (!excluded.has(section)) owning.add(place);
  });
  if (left < 0) return undefined;
  return [...owning]
    .sort((one, other) => one - other)
    .flatMap((place) => lines[place] ?? [])
    .map(({ isExclusion: _, ...entry }) => ({ ...entry, isOptional: !required.has(entry.section) }));
}
