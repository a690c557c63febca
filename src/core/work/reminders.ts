/** Reminds people whom a text calls by name, when they may see what it is about. */
import type postgres from 'postgres';
import type { Db } from '../../platform/db/database.ts';
import type { Actor } from '../identity/actor.ts';
import { addressedNames, mentionedNames, readersAmong, usersByName } from './mentions.ts';
import type { Target } from './targets.ts';
import { addTodos } from './todo-writes.ts';

/**
 * Those who are called in the text but were not in what stood there before: `directly_addressed` where it begins with
 * them, else `mentioned`. Nobody is reminded by themselves, nor of what they would not be shown. Inside a transaction.
 */
export async function remindMentioned(
  tx: Db,
  points: postgres.Sql,
  said: {
    actor: Pick<Actor, 'id' | 'username'>;
    target: Target;
    text: string | null;
    before?: string | null | undefined;
    noteId?: number | undefined;
    internal?: boolean | undefined;
  },
): Promise<void> {
  const { actor, target, text, before, noteId, internal } = said;
  const known = new Set([actor.username.toLowerCase(), ...mentionedNames(before)]);
  const people = await usersByName(
    tx,
    mentionedNames(text).filter((name) => !known.has(name)),
  );
  const readers = await readersAmong(tx, points, target, people, internal);
  const addressed = new Set(addressedNames(text));
  for (const action of ['directly_addressed', 'mentioned'] as const) {
    const users = people
      .filter(({ id }) => readers.has(id))
      .filter(({ username }) => addressed.has(username.toLowerCase()) === (action === 'directly_addressed'))
      .map(({ id }) => id);
    await addTodos(tx, { users, author: actor, target, noteId, action });
  }
}
