/** The people of a subject before and after a change. */
import { type RawBuilder, sql } from 'kysely';
import type { Db } from '../../../platform/db/database.ts';
import type { PeopleChange } from './mail-contents.ts';

/** Their names. `current` selects the `user_id` of those who are there now; the event knows who came, and who went. */
export async function selectPeopleChange(
  db: Db,
  current: RawBuilder<unknown>,
  { added, removed }: { added: readonly number[]; removed: readonly number[] },
): Promise<PeopleChange> {
  const { rows } = await sql<{ id: number; name: string; stays: boolean }>`
    with current as (${current})
    select u.id, u.name, u.id in (select user_id from current) as stays from users u
    where u.id in (select user_id from current) or u.id = any(${[...removed]}::bigint[]) order by u.id`.execute(
    db,
  );
  const namesOf = (people: typeof rows): string[] => people.map(({ name }) => name);
  return {
    from: [
      ...namesOf(rows.filter(({ id, stays }) => stays && !added.includes(id))),
      ...namesOf(rows.filter(({ id }) => removed.includes(id))),
    ],
    to: namesOf(rows.filter(({ stays }) => stays)),
  };
}
