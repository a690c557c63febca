/** Who is subscribed to a noteable: explicitly, or as a participant. */
import { type RawBuilder, sql } from 'kysely';
import type { Db } from '../../../platform/db/database.ts';
import type { Noteable, NoteableKind } from './noteables.ts';

/** Selects the ids among these to which the user is subscribed. */
export const selectSubscribed = (
  userId: number,
  { column, participants }: NonNullable<NoteableKind['subscriptions']>,
  ids: RawBuilder<unknown>,
): RawBuilder<{ id: number }> => sql<{ id: number }>`
  select asked.id from unnest(${ids}) as asked(id)
  left join subscriptions s on s.${sql.ref(column)} = asked.id and s.user_id = ${userId}
  where coalesce(s.subscribed, asked.id in (
    select target from (${participants(ids)}) x where x.user_id = ${userId}))`;

export async function isSubscribed(
  db: Db,
  userId: number,
  { kind: { subscriptions }, id }: Pick<Noteable, 'kind' | 'id'>,
): Promise<boolean> {
  if (!subscriptions || id === undefined) return false;
  const { rows } = await selectSubscribed(userId, subscriptions, sql`${[id]}::bigint[]`).execute(db);
  return rows.length > 0;
}

/** Ids of participants: the author first, the others by id. */
export async function participantIds(
  db: Db,
  { kind, id, authorId }: Pick<Noteable, 'kind' | 'id' | 'authorId'>,
): Promise<number[]> {
  if (!kind.subscriptions) return [];
  const { rows } = await sql<{ user_id: number }>`
    select distinct user_id, user_id = ${authorId ?? 0} as first
    from (${kind.subscriptions.participants(sql`${[id ?? 0]}::bigint[]`)}) x order by first desc, user_id`.execute(
    db,
  );
  return rows.map(({ user_id }) => user_id);
}
