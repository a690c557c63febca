/** Reminds people whom a text calls by name, alone or with others, when they may see what it is about. */
import type postgres from 'postgres';
import type { Db } from '../../platform/db/database.ts';
import type { Actor } from '../identity/actor.ts';
import { ALL, calledCrowds } from './crowds.ts';
import { addressedNames, mentionedNames, type Person, readersAmong, usersByName } from './mentions.ts';
import type { Target } from './targets.ts';
import { addTodos, type TodoAction } from './todo-writes.ts';

export type Reminder = { userId: number; action: TodoAction };

/** A text about a target, and what stood there before. */
export type Saying = {
  actor: Actor;
  target: Target;
  text: string | null | undefined;
  before?: string | null | undefined;
  /** Whether only the team reads it. */
  internal?: boolean | undefined;
};

/**
 * Those whom the text calls and who were not called before, each once: `directly_addressed` where it begins with them, else
 * `mentioned`. Nobody is reminded by themselves, nor of what they would not be shown.
 */
export async function findReminders(db: Db, points: postgres.Sql, saying: Saying): Promise<Reminder[]> {
  const { actor, target, text, before, internal } = saying;
  const known = new Set([actor.username.toLowerCase(), ...mentionedNames(before)]);
  const names = mentionedNames(text).filter((name) => !known.has(name));
  if (names.length === 0) return [];
  const people = await usersByName(
    db,
    names.filter((name) => name !== ALL),
  );
  const alone = new Set(people.map(({ username }) => username.toLowerCase()));
  const many = names.filter((name) => !alone.has(name));
  const crowds = many.length === 0 ? [] : await calledCrowds(db, points, { actor, target, names: many });
  const addressed = new Set(addressedNames(text));
  const called = new Map<number, { person: Person; action: TodoAction }>();
  const call = (person: Person, name: string): void => {
    if (called.get(person.id)?.action === 'directly_addressed') return;
    called.set(person.id, { person, action: addressed.has(name) ? 'directly_addressed' : 'mentioned' });
  };
  for (const person of people) call(person, person.username.toLowerCase());
  for (const { name, people: members } of crowds) {
    for (const person of members) if (!known.has(person.username.toLowerCase())) call(person, name);
  }
  const readers = await readersAmong(
    db,
    points,
    target,
    [...called.values()].map(({ person }) => person),
    internal,
  );
  return [...called.values()]
    .filter(({ person }) => readers.has(person.id))
    .map(({ person, action }) => ({ userId: person.id, action }));
}

/** Reminds those whom findReminders() finds. Inside a transaction. */
export async function remindMentioned(
  tx: Db,
  points: postgres.Sql,
  saying: Saying & { noteId?: number | undefined },
): Promise<void> {
  const { actor, target, noteId } = saying;
  const reminders = await findReminders(tx, points, saying);
  for (const action of ['directly_addressed', 'mentioned'] as const) {
    const users = reminders.filter((each) => each.action === action).map(({ userId }) => userId);
    await addTodos(tx, { users, author: actor, target, noteId, action });
  }
}
