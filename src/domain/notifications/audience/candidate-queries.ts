/** Candidates for notifications, page by page, and their relations to the subject: the SQL of audiences. */
import { type RawBuilder, sql } from 'kysely';
import { memberIds } from '../../../kernel/access/membership-queries.ts';
import { type ActorColumns, actorColumns } from '../../../kernel/actor.ts';
import type { Db } from '../../../platform/db/database.ts';
import type { NotificationEvent } from '../events/events.ts';
import type { NotificationSubject } from '../events/subjects.ts';
import type { NotificationEventName } from '../settings/levels.ts';
import { settingsOf } from '../settings/queries.ts';
import { audienceKind, type Candidate, type Participation, reachesWatchers } from './audience.ts';

/** The notification event, the kind of its subject, and the properties that decide who is notified. */
export type EventContext = {
  event: NotificationEvent;
  subject: Pick<NotificationSubject, 'participants' | 'subscription'>;
  /** From the root to the group of the project or epic. */
  ancestorIds: readonly number[];
  emailsDisabled: boolean;
  authorId: number | undefined;
  assigneeIds: readonly number[];
  reviewerIds: readonly number[];
  /** Users whom the new description or the note mentions. */
  mentionedIds: ReadonlySet<number>;
};

/** Bounds of a page of candidates: those after the id; with `zones`, only users in these time zones. */
export type Page = { after: number; limit: number; zones?: readonly string[] | undefined };

/** A candidate, and its columns as an actor. Read access is not checked yet. */
export type Prospect = { candidate: Candidate; person: ActorColumns };

const created: ReadonlySet<NotificationEventName> = new Set(['new_issue', 'new_epic', 'new_merge_request']);
const assigning: ReadonlySet<NotificationEventName> = new Set([...created, 'issue_due']);
const reassigning: ReadonlySet<NotificationEventName> = new Set(['reassign_issue', 'reassign_merge_request']);

const bigints = (ids: Iterable<number>): RawBuilder<unknown> => sql`${[...ids]}::bigint[]`;
const either = (parts: readonly RawBuilder<unknown>[]): RawBuilder<unknown> =>
  sql.join(parts, sql` union all `);
const nobody = sql`select null::bigint as user_id where false`;

/** Ids of participants by the rows of the subject. */
function partakers({ event, subject }: EventContext): RawBuilder<unknown> {
  // Participants of a new subject are its author, assignees and mentioned users; others came after this
  // event.
  if (created.has(event.name) || !subject.participants) return nobody;
  return sql`select user_id from (${subject.participants(event)}) x`;
}

/** Subscriptions to the subject, as rows of user_id and subscribed. */
function subscriptions({ event, subject: { subscription } }: EventContext): RawBuilder<unknown> {
  if (!subscription) return sql`select null::bigint as user_id, false as subscribed where false`;
  return sql`select user_id, subscribed from subscriptions
    where ${sql.ref(subscription.column)} = ${event.subject.id ?? 0}`;
}

/** Ids of subscribers to a label of a new subject, in its project or in the label's group. */
function labelSubscribers({ event, subject: { subscription } }: EventContext): RawBuilder<unknown> {
  if (!created.has(event.name) || !subscription) return nobody;
  return sql`
    select s.user_id from label_links l join subscriptions s on s.label_id = l.label_id
    where ${sql.ref(`l.${subscription.column}`)} = ${event.subject.id ?? 0} and s.subscribed
      and (s.project_id is null or s.project_id = ${event.projectId ?? null})`;
}

const members = ({ event, ancestorIds }: EventContext): RawBuilder<unknown> =>
  sql`select user_id from (${memberIds({ projectId: event.projectId, ancestorIds })}) x`;

/** Ids of users whose settings of the project or groups, or global ones as members, may include the event. */
function watchers(context: EventContext): RawBuilder<unknown> {
  const { event, ancestorIds } = context;
  const levels = sql`any(${reachesWatchers(event.name) ? ['watch', 'custom'] : ['custom']}::text[])`;
  return either([
    sql`select user_id from notification_settings where project_id = ${event.projectId ?? null} and level = ${levels}`,
    sql`select user_id from notification_settings where namespace_id = any(${bigints(ancestorIds)}) and level = ${levels}`,
    sql`select user_id from notification_settings where project_id is null and namespace_id is null
      and level in ('watch', 'custom') and level = ${levels} and user_id in (${members(context)})`,
  ]);
}

/** Ids of users whom the event or the subject names. */
function named({ event: { involved }, ...context }: EventContext): number[] {
  return [
    ...[context.authorId ?? [], involved.owner ?? []].flat(),
    ...[context.assigneeIds, context.reviewerIds, involved.assigned, involved.unassigned].flat(),
    ...[involved.reviewing, involved.noLongerReviewing, involved.approvers, [...context.mentionedIds]].flat(),
  ];
}

function everybody(context: EventContext): RawBuilder<unknown> {
  if (audienceKind(context.event.name) === 'members') return members(context);
  const unnested = sql`select unnest(${bigints(named(context))}) as user_id`;
  if (audienceKind(context.event.name) !== 'thread') return unnested;
  return either([
    unnested,
    partakers(context),
    sql`select user_id from (${subscriptions(context)}) x where subscribed`,
    labelSubscribers(context),
    watchers(context),
  ]);
}

/** Ids of candidates, in their order; fewer than `limit` are the last. */
export async function candidateIds(
  db: Db,
  context: EventContext,
  { after, limit, zones }: Page,
): Promise<number[]> {
  if (context.emailsDisabled) return [];
  const awake = zones ? sql`and coalesce(timezone, '') = any(${[...zones]}::text[])` : sql``;
  const { rows } = await sql<{ id: number }>`
    select id from users where id > ${after} and id in (${everybody(context)}) ${awake}
      and (id <> ${context.event.actorId ?? 0} or notified_of_own_activity)
      and state = 'active' and kind = 'human' and deletion is null and confirmed_at is not null
    order by id limit ${limit}`.execute(db);
  return rows.map(({ id }) => id);
}

type Tie = 'member' | 'partaker' | 'label' | 'subscribed' | 'unsubscribed';

/** The relations of each user to the subject or its project; a user without any is not in the map. */
async function tiesOf(db: Db, context: EventContext, ids: readonly number[]): Promise<Map<number, Set<Tie>>> {
  const requested = sql`user_id = any(${bigints(ids)})`;
  const tie = (name: Tie, from: RawBuilder<unknown>) =>
    sql`select ${sql.lit(name)} as tie, user_id from (${from}) ${sql.ref(name)} where ${requested}`;
  const { rows } = await sql<{ tie: Tie; user_id: number }>`${either([
    tie('member', members(context)),
    tie('partaker', partakers(context)),
    tie('label', labelSubscribers(context)),
    sql`select case when subscribed then 'subscribed' else 'unsubscribed' end as tie, user_id
      from (${subscriptions(context)}) x where ${requested}`,
  ])}`.execute(db);
  const ties = new Map<number, Set<Tie>>();
  for (const { tie: name, user_id } of rows) ties.set(user_id, (ties.get(user_id) ?? new Set()).add(name));
  return ties;
}

function participationOf(context: EventContext, id: number, ties: ReadonlySet<Tie>): Participation {
  const { event: occasion, assigneeIds, reviewerIds } = context;
  const { name: event, involved } = occasion;
  const answersFor = assigneeIds.includes(id);
  const reviews = reviewerIds.includes(id);
  return {
    mentioned: context.mentionedIds.has(id),
    assigned: reassigning.has(event) ? involved.assigned.includes(id) : assigning.has(event) && answersFor,
    wasAssigned: involved.unassigned.includes(id),
    reviewing: involved.reviewing.includes(id) || (event === 'new_merge_request' && reviews),
    wasReviewing: involved.noLongerReviewing.includes(id),
    author: context.authorId === id,
    participates: answersFor || reviews || ties.has('partaker'),
    subscribed: ties.has('subscribed') ? true : ties.has('unsubscribed') ? false : undefined,
    labelSubscribed: ties.has('label'),
    approver: involved.approvers.includes(id),
    owner: involved.owner === id,
  };
}

const noTies: ReadonlySet<Tie> = new Set();

/** The candidates of these ids, by a fixed number of statements. */
export async function prospectsAmong(
  db: Db,
  context: EventContext,
  ids: readonly number[],
): Promise<Prospect[]> {
  if (ids.length === 0) return [];
  const { event, ancestorIds, emailsDisabled } = context;
  const [users, settings, ties] = await Promise.all([
    db
      .selectFrom('users')
      .select([...actorColumns, 'state', 'confirmed_at'])
      .where(sql<boolean>`id = any(${bigints(ids)})`)
      .where('deletion', 'is', null)
      .orderBy('id')
      .execute(),
    settingsOf(db, ids, { projectId: event.projectId, ancestorIds }),
    tiesOf(db, context, ids),
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
      participation: participationOf(context, person.id, own),
    };
    // The table's check constraint admits these kinds only.
    return [{ candidate, person: person as ActorColumns }];
  });
}
