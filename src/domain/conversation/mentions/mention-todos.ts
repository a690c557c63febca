/** To-dos for users whom a text mentions, alone or by group, when they may see the noteable. */

import type { Actor } from '../../../kernel/actor.ts';
import type { Db } from '../../../platform/db/database.ts';
import type { Sql } from '../../../platform/db/driver/sql.ts';
import type { Noteable } from '../noteables/noteables.ts';
import type { TodoAction } from '../noteables/todo-actions.ts';
import { ALL, findGroupMentions } from './group-mentions.ts';
import { addressedNames, mentionedNames, readersAmong } from './mentions.ts';
import { type Person, usersByName } from './queries.ts';

export type MentionTodo = { userId: number; action: TodoAction };

/** A text of a noteable, and its former version. */
export type TextChange = {
  actor: Actor;
  target: Noteable;
  text: string | null | undefined;
  before?: string | null | undefined;
  /** Whether it is an internal note. */
  internal?: boolean | undefined;
};

/**
 * Users whom the text mentions and did not before, each once: `directly_addressed` where it begins with them,
 * else `mentioned`. Without the actor, and without users who do not see the text.
 */
export async function findMentionTodos(db: Db, points: Sql, change: TextChange): Promise<MentionTodo[]> {
  const { actor, target: noteable, text, before, internal } = change;
  const known = new Set([actor.username.toLowerCase(), ...mentionedNames(before)]);
  const names = mentionedNames(text).filter((name) => !known.has(name));
  if (names.length === 0) return [];
  const people = await usersByName(
    db,
    names.filter((name) => name !== ALL),
  );
  const alone = new Set(people.map(({ username }) => username.toLowerCase()));
  const many = names.filter((name) => !alone.has(name));
  const mentions =
    many.length === 0 ? [] : await findGroupMentions(db, points, { actor, target: noteable, names: many });
  const addressed = new Set(addressedNames(text));
  const called = new Map<number, { person: Person; action: TodoAction }>();
  const call = (person: Person, name: string): void => {
    if (called.get(person.id)?.action === 'directly_addressed') return;
    called.set(person.id, { person, action: addressed.has(name) ? 'directly_addressed' : 'mentioned' });
  };
  for (const person of people) call(person, person.username.toLowerCase());
  for (const { name, people: members } of mentions) {
    for (const person of members) if (!known.has(person.username.toLowerCase())) call(person, name);
  }
  const readers = await readersAmong(
    db,
    points,
    noteable,
    [...called.values()].map(({ person }) => person),
    internal,
  );
  return [...called.values()]
    .filter(({ person }) => readers.has(person.id))
    .map(({ person, action }) => ({ userId: person.id, action }));
}
