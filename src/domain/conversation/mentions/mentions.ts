/** Users whom a text mentions, and which of them may see it. */
import { authorizeGroup, authorizeProject } from '../../../kernel/access/find.ts';
import { type Actor, toActor } from '../../../kernel/actor.ts';
import type { Db } from '../../../platform/db/database.ts';
import type { Sql } from '../../../platform/db/driver/sql.ts';
import { Failure } from '../../../platform/failure.ts';
import { type Noteable, type NoteableKind, readsInternalNotes } from '../noteables/noteables.ts';
import { outsideCode } from './code-spans.ts';
import type { Person } from './queries.ts';

/** More names in one text are ignored: each costs a query. */
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

type Readers = Awaited<ReturnType<NoteableKind['readers']>>;

/** Whether the user sees the noteable, or the internal notes on it. */
async function sees(
  points: Sql,
  { project, group }: Noteable,
  person: Actor,
  isReader: Readers,
  internal: boolean,
): Promise<boolean> {
  try {
    // Reading its parent suffices here: isReader() decides on the noteable.
    const parent = group
      ? { project: undefined, group: await authorizeGroup(points, person, 'read_group', group.id) }
      : { project: await authorizeProject(points, person, 'read_project', project?.id ?? 0), group };
    return (!internal || readsInternalNotes(parent)) && isReader(person, parent);
  } catch (error) {
    if (error instanceof Failure) return false;
    throw error;
  }
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
  const isReader = await noteable.kind.readers(db, noteable);
  const seen = await Promise.all(
    people.map(async (person) => {
      const actor = toActor(person, { via: 'password' });
      return (await sees(points, noteable, actor, isReader, internal)) ? [person.id] : [];
    }),
  );
  return new Set(seen.flat());
}
