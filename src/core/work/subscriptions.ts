/** Subscriptions to issues, epics and labels: explicit ones, and those of participants. */
import { sql } from 'kysely';
import { now } from '../../platform/clock.ts';
import type { Db } from '../../platform/db/database.ts';
import type { Noteable, NoteableKind } from './noteables.ts';

/** A subscription to a group's label is for one project, or, without one, for the group. */
export type Subscribable =
  | { column: 'issue_id' | 'epic_id'; id: number }
  | { column: 'label_id'; id: number; projectId: number | null };

const none = { issue_id: null, epic_id: null, label_id: null };

/** Sets or clears the user's subscription, whatever it was. */
export async function setSubscription(
  tx: Db,
  userId: number,
  what: Subscribable,
  subscribed: boolean,
): Promise<void> {
  const time = now();
  const project_id = 'projectId' in what ? what.projectId : null;
  const columns = { ...none, [what.column]: what.id, project_id };
  await tx
    .insertInto('subscriptions')
    .values({ user_id: userId, ...columns, subscribed, created_at: time, updated_at: time })
    .onConflict((conflict) =>
      conflict
        .columns(['user_id', 'issue_id', 'epic_id', 'label_id', 'project_id'])
        .doUpdateSet({ subscribed, updated_at: time }),
    )
    .execute();
}

/** Those of a kind to which the user is subscribed, by one statement. */
export async function subscribedAmong(
  db: Db,
  userId: number,
  { subscriptions }: NoteableKind,
  ids: readonly number[],
): Promise<Set<number>> {
  if (!subscriptions || ids.length === 0) return new Set();
  const wanted = sql`${[...ids]}::bigint[]`;
  const { rows } = await sql<{ id: number }>`
    select asked.id from unnest(${wanted}) as asked(id)
    left join subscriptions s on s.${sql.ref(subscriptions.column)} = asked.id and s.user_id = ${userId}
    where coalesce(s.subscribed, asked.id in (
      select target from (${subscriptions.participants(wanted)}) x where x.user_id = ${userId}))`.execute(db);
  return new Set(rows.map(({ id }) => id));
}

/** The labels to which the user is subscribed in the project, or in their group; by one statement. */
export async function subscribedLabels(
  db: Db,
  userId: number,
  ids: readonly number[],
  projectId: number | null,
): Promise<Set<number>> {
  if (ids.length === 0) return new Set();
  const rows = await db
    .selectFrom('subscriptions')
    .select('label_id')
    .where('user_id', '=', userId)
    .where('label_id', 'in', [...ids])
    .where('project_id', 'is not distinct from', projectId)
    .where('subscribed', '=', true)
    .execute();
  return new Set(rows.flatMap(({ label_id }) => label_id ?? []));
}

export const isSubscribed = async (
  db: Db,
  userId: number,
  { kind, id }: Pick<Noteable, 'kind' | 'id'>,
): Promise<boolean> => id !== undefined && (await subscribedAmong(db, userId, kind, [id])).has(id);

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
