/** Among whom those are found who hear of something, page by page, and how each of them stands to it: the SQL of audiences. */
import { type RawBuilder, sql } from 'kysely';
import type { Db } from '../../platform/db/database.ts';
import { memberIds } from '../access/memberships.ts';
import type { ActorColumns } from '../identity/actor.ts';
import { takesPart } from '../work/subscriptions.ts';
import { audienceKind, type Candidate, type Participation, reachesWatchers } from './audience.ts';
import type { NotificationEvent } from './levels.ts';
import type { Occasion } from './occasions.ts';
import { settingsOf } from './settings.ts';

/** What happened, and what of the thing decides who hears of it. */
export type Matter = {
  occasion: Occasion;
  /** From the root to the group of the project, or to that of the epic. */
  ancestorIds: readonly number[];
  emailsDisabled: boolean;
  authorId: number | undefined;
  assigneeIds: readonly number[];
  reviewerIds: readonly number[];
  /** Whom the new description, or the note, calls. */
  mentionedIds: ReadonlySet<number>;
};

/** What a page of candidates is drawn from: those after the id, and of these zones where only their morning counts. */
export type Page = { after: number; limit: number; zones?: readonly string[] | undefined };

/** Somebody who may hear of it, and their columns as an actor. What they may see was not asked. */
export type Prospect = { candidate: Candidate; person: ActorColumns };

const created: ReadonlySet<NotificationEvent> = new Set(['new_issue', 'new_epic', 'new_merge_request']);
const assigning: ReadonlySet<NotificationEvent> = new Set([...created, 'issue_due']);
const reassigning: ReadonlySet<NotificationEvent> = new Set(['reassign_issue', 'reassign_merge_request']);

const bigints = (ids: Iterable<number>): RawBuilder<unknown> => sql`${[...ids]}::bigint[]`;
const either = (parts: readonly RawBuilder<unknown>[]): RawBuilder<unknown> =>
  sql.join(parts, sql` union all `);
const nobody = sql`select null::bigint as user_id where false`;

/** Ids of those who take part in the thing, as far as its rows tell. */
function partakers({ occasion: { event, subject, projectId } }: Matter): RawBuilder<unknown> {
  // Whoever takes part in something new wrote it, answers for it or is called by it; the others came before this was heard.
  if (created.has(event)) return nobody;
  switch (subject.kind) {
    case 'issue':
    case 'epic':
      return sql`select user_id from (${takesPart[subject.kind](bigints([subject.id]))}) x`;
    case 'snippet':
      return sql`select author_id as user_id from notes where snippet_id = ${subject.id} and system_action is null`;
    case 'commit':
      return sql`select author_id as user_id from notes
        where project_id = ${projectId ?? null} and commit_sha = ${subject.sha} and system_action is null`;
    default:
      return nobody;
  }
}

/** What was said of the thing itself, as rows of user_id and subscribed. */
function subscriptions({ occasion: { subject } }: Matter): RawBuilder<unknown> {
  if (subject.kind !== 'issue' && subject.kind !== 'epic')
    return sql`select null::bigint as user_id, false as subscribed where false`;
  return sql`select user_id, subscribed from subscriptions where ${sql.ref(`${subject.kind}_id`)} = ${subject.id}`;
}

/** Ids of those who hear of a label of something new: in its project, or wherever the label is. */
function labelSubscribers({ occasion: { event, subject, projectId } }: Matter): RawBuilder<unknown> {
  if (!created.has(event) || (subject.kind !== 'issue' && subject.kind !== 'epic')) return nobody;
  return sql`
    select s.user_id from label_links l join subscriptions s on s.label_id = l.label_id
    where ${sql.ref(`l.${subject.kind}_id`)} = ${subject.id} and s.subscribed
      and (s.project_id is null or s.project_id = ${projectId ?? null})`;
}

const members = ({ occasion, ancestorIds }: Matter): RawBuilder<unknown> =>
  sql`select user_id from (${memberIds({ projectId: occasion.projectId, ancestorIds })}) x`;

/** Ids of those whose settings of the place, or of everything where they are members, may ask for what happens there. */
function watchers(matter: Matter): RawBuilder<unknown> {
  const { occasion, ancestorIds } = matter;
  const levels = sql`any(${reachesWatchers(occasion.event) ? ['watch', 'custom'] : ['custom']}::text[])`;
  return either([
    sql`select user_id from notification_settings where project_id = ${occasion.projectId ?? null} and level = ${levels}`,
    sql`select user_id from notification_settings where namespace_id = any(${bigints(ancestorIds)}) and level = ${levels}`,
    sql`select user_id from notification_settings where project_id is null and namespace_id is null
      and level in ('watch', 'custom') and level = ${levels} and user_id in (${members(matter)})`,
  ]);
}

/** Ids of those whom the occasion or the thing itself names. */
function named({ occasion: { involved }, ...matter }: Matter): number[] {
  return [
    ...[matter.authorId ?? [], involved.owner ?? []].flat(),
    ...[matter.assigneeIds, matter.reviewerIds, involved.assigned, involved.unassigned].flat(),
    ...[involved.reviewing, involved.noLongerReviewing, involved.approvers, [...matter.mentionedIds]].flat(),
  ];
}

function everybody(matter: Matter): RawBuilder<unknown> {
  if (audienceKind(matter.occasion.event) === 'members') return members(matter);
  const unnested = sql`select unnest(${bigints(named(matter))}) as user_id`;
  if (audienceKind(matter.occasion.event) !== 'thread') return unnested;
  return either([
    unnested,
    partakers(matter),
    sql`select user_id from (${subscriptions(matter)}) x where subscribed`,
    labelSubscribers(matter),
    watchers(matter),
  ]);
}

/** Ids of people who may hear of it, in their order; fewer than `limit` are the last. */
export async function candidateIds(db: Db, matter: Matter, { after, limit, zones }: Page): Promise<number[]> {
  if (matter.emailsDisabled) return [];
  const awake = zones ? sql`and coalesce(timezone, '') = any(${[...zones]}::text[])` : sql``;
  const { rows } = await sql<{ id: number }>`
    select id from users where id > ${after} and id in (${everybody(matter)}) ${awake}
      and state = 'active' and kind = 'human' and deletion is null and confirmed_at is not null
    order by id limit ${limit}`.execute(db);
  return rows.map(({ id }) => id);
}

type Tie = 'member' | 'partaker' | 'label' | 'subscribed' | 'unsubscribed';

/** What ties each of them to the thing or its place; whoever has no tie is not in the map. */
async function tiesOf(db: Db, matter: Matter, ids: readonly number[]): Promise<Map<number, Set<Tie>>> {
  const asked = sql`user_id = any(${bigints(ids)})`;
  const tie = (name: Tie, from: RawBuilder<unknown>) =>
    sql`select ${sql.lit(name)} as tie, user_id from (${from}) ${sql.ref(name)} where ${asked}`;
  const { rows } = await sql<{ tie: Tie; user_id: number }>`${either([
    tie('member', members(matter)),
    tie('partaker', partakers(matter)),
    tie('label', labelSubscribers(matter)),
    sql`select case when subscribed then 'subscribed' else 'unsubscribed' end as tie, user_id
      from (${subscriptions(matter)}) x where ${asked}`,
  ])}`.execute(db);
  const ties = new Map<number, Set<Tie>>();
  for (const { tie: name, user_id } of rows) ties.set(user_id, (ties.get(user_id) ?? new Set()).add(name));
  return ties;
}

function participationOf(matter: Matter, id: number, ties: ReadonlySet<Tie>): Participation {
  const { occasion, assigneeIds, reviewerIds } = matter;
  const { event, involved } = occasion;
  const answersFor = assigneeIds.includes(id);
  const reviews = reviewerIds.includes(id);
  return {
    mentioned: matter.mentionedIds.has(id),
    assigned: reassigning.has(event) ? involved.assigned.includes(id) : assigning.has(event) && answersFor,
    wasAssigned: involved.unassigned.includes(id),
    reviewing: involved.reviewing.includes(id) || (event === 'new_merge_request' && reviews),
    wasReviewing: involved.noLongerReviewing.includes(id),
    author: matter.authorId === id,
    participates: answersFor || reviews || ties.has('partaker'),
    subscribed: ties.has('subscribed') ? true : ties.has('unsubscribed') ? false : undefined,
    labelSubscribed: ties.has('label'),
    approver: involved.approvers.includes(id),
    owner: involved.owner === id,
  };
}

const noTies: ReadonlySet<Tie> = new Set();

/** How each of the people stands to what happened, by a number of statements that does not depend on theirs. */
export async function prospectsAmong(db: Db, matter: Matter, ids: readonly number[]): Promise<Prospect[]> {
  if (ids.length === 0) return [];
  const { occasion, ancestorIds, emailsDisabled } = matter;
  const [users, settings, ties] = await Promise.all([
    db
      .selectFrom('users')
      .select(['id', 'username', 'name', 'kind', 'state', 'admin', 'auditor', 'external', 'confirmed_at'])
      .where(sql<boolean>`id = any(${bigints(ids)})`)
      .where('deletion', 'is', null)
      .orderBy('id')
      .execute(),
    settingsOf(db, ids, { projectId: occasion.projectId, ancestorIds }),
    tiesOf(db, matter, ids),
  ]);
  return users.flatMap(({ state, confirmed_at, ...person }) => {
    const said = settings.get(person.id);
    if (!said) return [];
    const own = ties.get(person.id) ?? noTies;
    const candidate: Candidate = {
      id: person.id,
      state,
      kind: person.kind,
      confirmed: confirmed_at !== null,
      member: own.has('member'),
      canRead: true,
      emailsDisabled,
      settings: said,
      participation: participationOf(matter, person.id, own),
    };
    // The table's check constraint admits these kinds only.
    return [{ candidate, person: person as ActorColumns }];
  });
}
