/** Subscriptions to issues, epics and labels: explicit ones, and those of participants. */
import { type RawBuilder, sql } from 'kysely';
import { now } from '../../platform/clock.ts';
import type { Db } from '../../platform/db/database.ts';
import type { Noteable } from './noteables.ts';

/** A subscription to a group's label is for one project, or, without one, for the group. */
export type Subscribable =
  | Pick<Noteable, 'kind' | 'id'>
  | { kind: 'label'; id: number; projectId: number | null };

const columnsOf = (what: Subscribable) => ({
  issue_id: what.kind === 'issue' ? (what.id ?? null) : null,
  epic_id: what.kind === 'epic' ? (what.id ?? null) : null,
  label_id: what.kind === 'label' ? what.id : null,
  project_id: 'projectId' in what ? what.projectId : null,
});

/** Sets or clears the user's subscription, whatever it was. */
export async function setSubscription(
  tx: Db,
  userId: number,
  what: Subscribable,
  subscribed: boolean,
): Promise<void> {
  const time = now();
  await tx
    .insertInto('subscriptions')
    .values({ user_id: userId, ...columnsOf(what), subscribed, created_at: time, updated_at: time })
    .onConflict((conflict) =>
      conflict
        .columns(['user_id', 'issue_id', 'epic_id', 'label_id', 'project_id'])
        .doUpdateSet({ subscribed, updated_at: time }),
    )
    .execute();
}

/** Ids of participants: authors, assignees, commenters and mentioned users, internal notes aside. */
export const takesPart = {
  issue: (ids: RawBuilder<unknown>) => sql`
    select id as target, author_id as user_id from issues where id = any(${ids})
    union select issue_id, user_id from issue_assignees where issue_id = any(${ids})
    union select issue_id, author_id from notes where issue_id = any(${ids}) and system_action is null and not internal
    union select t.issue_id, t.user_id from todos t left join notes n on n.id = t.note_id
      where t.issue_id = any(${ids}) and t.action in ('mentioned', 'directly_addressed') and n.internal is not true`,
  epic: (ids: RawBuilder<unknown>) => sql`
    select id as target, author_id as user_id from epics where id = any(${ids})
    union select epic_id, author_id from notes where epic_id = any(${ids}) and system_action is null and not internal
    union select t.epic_id, t.user_id from todos t left join notes n on n.id = t.note_id
      where t.epic_id = any(${ids}) and t.action in ('mentioned', 'directly_addressed') and n.internal is not true`,
};

/** The issues or epics to which the user is subscribed, by one statement. */
export async function subscribedAmong(
  db: Db,
  userId: number,
  kind: 'issue' | 'epic',
  ids: readonly number[],
): Promise<Set<number>> {
  if (ids.length === 0) return new Set();
  const wanted = sql`${[...ids]}::bigint[]`;
  const column = sql.ref(`${kind}_id`);
  const { rows } = await sql<{ id: number }>`
    select asked.id from unnest(${wanted}) as asked(id)
    left join subscriptions s on s.${column} = asked.id and s.user_id = ${userId}
    where coalesce(s.subscribed, asked.id in (
      select target from (${takesPart[kind](wanted)}) x where x.user_id = ${userId}))`.execute(db);
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

export async function isSubscribed(db: Db, userId: number, what: Subscribable): Promise<boolean> {
  if (what.id === undefined) return false;
  if (what.kind === 'label')
    return (await subscribedLabels(db, userId, [what.id], what.projectId)).has(what.id);
  if (what.kind !== 'issue' && what.kind !== 'epic') return false;
  return (await subscribedAmong(db, userId, what.kind, [what.id])).has(what.id);
}

/** Ids of participants of an issue or epic: its author first, the others by id. */
export async function participantIds(
  db: Db,
  noteable: Pick<Noteable, 'kind' | 'id' | 'authorId'>,
): Promise<number[]> {
  if (noteable.kind !== 'issue' && noteable.kind !== 'epic') return [];
  const { rows } = await sql<{ user_id: number }>`
    select distinct user_id, user_id = ${noteable.authorId ?? 0} as first
    from (${takesPart[noteable.kind](sql`${[noteable.id ?? 0]}::bigint[]`)}) x order by first desc, user_id`.execute(
    db,
  );
  return rows.map(({ user_id }) => user_id);
}
