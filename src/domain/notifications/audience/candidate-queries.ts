/** Candidates for notifications, page by page, and their relations to the subject: the SQL of audiences. */

import { type RawBuilder, sql } from 'kysely';
import { type MembersOf, memberIds } from '../../../kernel/access/membership-queries.ts';
import type { ActorColumns } from '../../../kernel/actor.ts';
import { adminBehindRequests } from '../../../kernel/identity/admin-mode-queries.ts';
import type { Db } from '../../../platform/db/database.ts';
import type { NotificationEvent } from '../events/events.ts';
import type { NotificationSubject } from '../events/subjects.ts';
import type { ChosenEventName, NotificationEventName } from '../settings/levels.ts';
import { gatherSettings, type SettingRow, settingsOf } from '../settings/queries.ts';
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

/** Where a user's mail goes, and how it is written. */
export type Mailbox = { address: string; language: string; timezone: string | null };

/** A candidate, its columns as an actor, and its mailbox. Read access is not checked yet. */
export type Prospect = { candidate: Candidate; person: ActorColumns; mailbox: Mailbox };

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

/** Ids of users one of whose settings `is` so: of the project or its groups, or as members the global one. */
function settingHolders(place: MembersOf, is: RawBuilder<unknown>): RawBuilder<unknown> {
  const { projectId = null, ancestorIds } = place;
  return either([
    sql`select user_id from notification_settings where project_id = ${projectId} and ${is}`,
    sql`select user_id from notification_settings where namespace_id = any(${bigints(ancestorIds)}) and ${is}`,
    sql`select user_id from notification_settings where project_id is null and namespace_id is null
      and level in ('watch', 'custom') and ${is} and user_id in (select user_id from (${memberIds(place)}) x)`,
  ]);
}

/** Ids of users whose settings may include the event. */
const watchers = ({ event, ancestorIds }: EventContext): RawBuilder<unknown> =>
  settingHolders(
    { projectId: event.projectId, ancestorIds },
    sql`level = any(${reachesWatchers(event.name) ? ['watch', 'custom'] : ['custom']}::text[])`,
  );

/** Selects the `user_id` of those who chose the event, here or everywhere; which of their settings counts is not said. */
export const selectChoosers = (event: ChosenEventName, place: MembersOf): RawBuilder<unknown> =>
  settingHolders(place, sql`level = 'custom' and (events ->> ${event})::boolean`);

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

/** Ids of candidates. */
const candidates = (context: EventContext, { after, limit, zones }: Page): RawBuilder<unknown> => {
  const awake = zones ? sql`and coalesce(timezone, '') = any(${[...zones]}::text[])` : sql``;
  return sql`select id from users where id > ${after} and id in (${everybody(context)}) ${awake}
      and (id <> ${context.event.actorId ?? 0} or notified_of_own_activity)
      and state = 'active' and kind = 'human' and deletion is null and confirmed_at is not null
    order by id limit ${limit}`;
};

type Tie = 'member' | 'partaker' | 'label' | 'subscribed' | 'unsubscribed';

/** The relations of users of `page` to the subject or its project, as rows of tie and user_id. */
function tiesOf(context: EventContext): RawBuilder<unknown> {
  const requested = sql`user_id = any(array(select id from page))`;
  const tie = (name: Tie, from: RawBuilder<unknown>) =>
    sql`select ${sql.lit(name)} as tie, user_id from (${from}) ${sql.ref(name)} where ${requested}`;
  return either([
    tie('member', members(context)),
    tie('partaker', partakers(context)),
    tie('label', labelSubscribers(context)),
    sql`select case when subscribed then 'subscribed' else 'unsubscribed' end as tie, user_id
      from (${subscriptions(context)}) x where ${requested}`,
  ]);
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

type ProspectRow = ActorColumns &
  Mailbox & {
    state: string;
    confirmed: boolean;
    ties: Tie[];
    settings: SettingRow[];
    notified_of_own: boolean;
  };

/** A page of the candidates in the order of their ids, fewer than `limit` where they are the last; or those of these ids. */
export async function findProspects(
  db: Db,
  context: EventContext,
  which: Page | { ids: readonly number[] },
): Promise<Prospect[]> {
  const { event, ancestorIds, emailsDisabled } = context;
  if ('limit' in which && emailsDisabled) return [];
  const page = 'ids' in which ? sql`select unnest(${bigints(which.ids)}) as id` : candidates(context, which);
  const { rows } = await sql<ProspectRow>`
    with page as materialized (${page}), ties as materialized (${tiesOf(context)})
    select u.id, u.username, u.name, u.kind, u.state, ${adminBehindRequests('u')} as admin, u.auditor, u.external, u.confirmed_at is not null as confirmed,
      coalesce(u.notification_email, u.email) as address, u.preferred_language as language, u.timezone,
      array(select tie from ties where user_id = u.id) as ties, u.notified_of_own_activity as notified_of_own,
      ${settingsOf({ projectId: event.projectId, ancestorIds })} as settings
    from page join users u using (id) where u.deletion is null order by u.id`.execute(db);
  return rows.map(({ state, confirmed, ties, settings, notified_of_own, ...row }) => {
    const { address, language, timezone, ...person } = row;
    const own = new Set(ties);
    const candidate: Candidate = {
      id: person.id,
      state,
      kind: person.kind,
      confirmed,
      member: own.has('member'),
      canRead: true,
      emailsDisabled,
      settings: gatherSettings(settings, ancestorIds, notified_of_own),
      participation: participationOf(context, person.id, own),
    };
    return { candidate, person, mailbox: { address, language, timezone } };
  });
}
