/** Loads the context of a notification event: once for the fan-out, and again for each recipient. */
import { toActor } from '../../core/identity/actor.ts';
import type { EventContext } from '../../core/notifications/candidates.ts';
import type { NotificationEventName } from '../../core/notifications/levels.ts';
import type { Services } from '../../core/services.ts';
import { ALL, findGroupMentions } from '../../core/work/group-mentions.ts';
import { mentionedNames, type Person, usersByName } from '../../core/work/mentions.ts';
import { findVisitor, loadNotificationContext, type NotificationContext } from './notification-context.ts';
import type { NotificationJob, Subject, SubjectSources } from './subjects.ts';

/** Context and subject of an event, while both exist. */
export type Found = { context: NotificationContext; subject: Subject };

/**
 * Loads the subject of an event; undefined when it, its project or group, or the note is gone, or its kind is
 * unknown.
 */
export async function findSubject(
  services: Services,
  sources: SubjectSources,
  job: NotificationJob,
): Promise<Found | undefined> {
  const { event } = job;
  const source = sources[event.subject.kind];
  const context = source && (await loadNotificationContext(services.database.background, event));
  const subject = context && (await source({ services, context, job }));
  return subject && { context, subject };
}

/** The event as audiences are decided by; `calledBy` finds the mentions once for all recipients. */
export const eventContextOf = (
  { event }: NotificationJob,
  { context, subject }: Found,
  mentionedIds: ReadonlySet<number>,
): EventContext => ({
  event,
  ancestorIds: context.ancestorIds,
  emailsDisabled: context.emailsDisabled,
  authorId: subject.authorId,
  assigneeIds: subject.assigneeIds,
  reviewerIds: subject.reviewerIds,
  mentionedIds,
});

const calling: ReadonlySet<NotificationEventName> = new Set([
  'new_issue',
  'new_epic',
  'new_merge_request',
  'approver',
  'new_note',
]);

/** Ids of mentioned users. Group mentions count where the event's actor may make them. */
export async function calledBy(
  services: Services,
  { event }: NotificationJob,
  { context, subject }: Found,
): Promise<Set<number>> {
  if (!calling.has(event.name)) return new Set();
  const names = mentionedNames(subject.said);
  if (names.length === 0) return new Set();
  const { background: db, points } = services.database;
  const people = await usersByName(
    db,
    names.filter((name) => name !== ALL),
  );
  const alone = new Set(people.map(({ username }) => username.toLowerCase()));
  const many = names.filter((name) => !alone.has(name));
  const caller = many.length > 0 && (await personOf(services, event.actorId));
  const visitor = caller && (await findVisitor(services, context, caller));
  const target = visitor && subject.targetFor?.(visitor);
  const mentions = target
    ? await findGroupMentions(db, points, {
        actor: toActor(caller, { via: 'password' }),
        target,
        names: many,
      })
    : [];
  return new Set([...people, ...mentions.flatMap((mention) => mention.people)].map(({ id }) => id));
}

async function personOf({ database }: Services, id: number | undefined): Promise<Person | undefined> {
  if (id === undefined) return undefined;
  const row = await database.background
    .selectFrom('users')
    .select(['id', 'username', 'name', 'kind', 'admin', 'auditor', 'external'])
    .where('id', '=', id)
    .executeTakeFirst();
  // The table's check constraint admits the kinds of actors only.
  return row as Person | undefined;
}
