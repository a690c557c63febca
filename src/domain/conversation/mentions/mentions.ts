/** Users whom a text mentions, and which of them may see it. */
import { selectGroupForEach, selectProjectForEach } from '../../../kernel/access/find.ts';
import { type Actor, toActor } from '../../../kernel/actor.ts';
import type { Db } from '../../../platform/db/database.ts';
import type { Sql } from '../../../platform/db/driver/sql.ts';
import { type Noteable, type NoteableParent, readsInternalNotes } from '../noteables/noteables.ts';
import { outsideCode } from './code-spans.ts';
import type { Person } from './queries.ts';

/** More names in one text are ignored. */
const MAX_NAMES = 100;
/** Characters at the start of a text in which addressed users are looked for. */
const MAX_ADDRESSED_LENGTH = 10_000;

const mention = /(?<![\w/@.`])@([a-z0-9_][\w.-]{0,254}(?:\/[\w.-]{1,255}){0,20})/gi;
const cleaned = (name: string): string => name.replace(/(?<![./-])[./-]+$/, '').toLowerCase();

/** Names after an `@` outside code, of users or paths of groups, in lower case, each once. */
export function mentionedNames(markdown: string | null | undefined): string[] {
  if (!markdown?.includes('@')) return [];
  // A repeated name is cleaned once, and the scan stops at the maximum.
  const written = new Set<string>();
  const names = new Set<string>();
  for (const [, name = ''] of outsideCode(markdown).matchAll(mention)) {
    if (names.size >= MAX_NAMES) break;
    if (written.has(name)) continue;
    written.add(name);
    const clean = cleaned(name);
    if (clean !== '') names.add(clean);
  }
  return [...names];
}

/** The names that the text begins with: it is addressed to them. */
export function addressedNames(markdown: string | null | undefined): string[] {
  const [beginning = ''] =
    /^\s*(?:@[\w./-]+[\s,]*(?:(?:and|&)\s+(?=@))?)+/i.exec(markdown?.slice(0, MAX_ADDRESSED_LENGTH) ?? '') ??
    [];
  return mentionedNames(beginning);
}

/** Receipts of the noteable's project or group for each of the people, undefined where they may not read it. */
async function parentsFor(
  points: Sql,
  { project, group }: Noteable,
  people: readonly Actor[],
): Promise<(NoteableParent | undefined)[]> {
  if (group)
    return (await selectGroupForEach(points, people, group.id)).map(
      (each) => each && { project: undefined, group: each },
    );
  return (await selectProjectForEach(points, people, project?.id ?? 0)).map(
    (each) => each && { project: each, group: undefined },
  );
}

/** Who sees the noteable, or the internal notes on it, by receipts of its project or group. */
export async function readerRule(
  db: Db,
  noteable: Noteable,
  internal = false,
): Promise<(person: Actor, parent: NoteableParent) => boolean> {
  const isReader = await noteable.kind.readers(db, noteable);
  return (person, parent) => (!internal || readsInternalNotes(parent)) && isReader(person, parent);
}

/** Ids of the users who see the noteable, or the internal notes on it. */
export async function readersAmong(
  db: Db,
  points: Sql,
  noteable: Noteable,
  people: readonly Person[],
  internal = false,
): Promise<Set<number>> {
  if (people.length === 0) return new Set();
  const actors = people.map((person) => toActor(person, { via: 'password' }));
  const [isReader, parents] = await Promise.all([
    readerRule(db, noteable, internal),
    parentsFor(points, noteable, actors),
  ]);
  const readers = actors.filter((actor, place) => {
    const parent = parents[place];
    return parent && isReader(actor, parent);
  });
  return new Set(readers.map(({ id }) => id));
}
