/** Topics of projects: a project keeps their names, in the spelling of the topics table. */
import { sql } from 'kysely';
import Type from 'typebox';
import { now } from '../../platform/clock.ts';
import { ahead, type Db } from '../../platform/db/database.ts';

/** One line. */
export const TopicName = Type.String({ maxLength: 255, pattern: '^[^\\r\\n\\v\\f\\u0085\\u2028\\u2029]*$' });

/**
 * Names for a project of this transaction: in order, each once, in the spelling of their topics. Creates
 * missing topics. Until the commit none of them is renamed, merged or deleted.
 */
export async function keepTopics(tx: Db, names: readonly string[]): Promise<string[]> {
  const given = names.map((name) => name.trim()).filter((name) => name !== '');
  if (given.length === 0) return [];
  const time = now();
  await sql`
    insert into topics (name, title, created_at, updated_at)
    select distinct on (lower(name)) name, name, ${time}::timestamptz, ${time}::timestamptz
    from unnest(${given}::text[]) with ordinality as given (name, place) order by lower(name), place
    on conflict (lower(name)) do nothing`.execute(ahead(tx));
  const { rows } = await sql<{ name: string }>`
    select t.name from unnest(${given}::text[]) with ordinality as given (name, place)
    join topics t on lower(t.name) = lower(given.name) group by t.name order by min(place)`.execute(tx);
  return rows.map(({ name }) => name);
}
