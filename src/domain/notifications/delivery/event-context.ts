/** Loads the context of a notification event: for its fan-out, and again for mails that are sent by other jobs. */

import { toActor } from '../../../kernel/actor.ts';
import type { Needs } from '../../../kernel/services.ts';
import { ALL, findGroupMentions, mentionedNames, usersByName } from '../../conversation/index.ts';
import type { EventContext } from '../audience/candidate-queries.ts';
import { type Doer, findVisitors, loadNotificationContext, type Note } from '../audience/context-queries.ts';
import {
  type LoadedSubject,
  type NotificationContext,
  type NotificationJob,
  type NotificationSubject,
  notificationSubjects,
} from '../events/subjects.ts';
import type { NotificationEventName } from '../settings/levels.ts';
import { personOf } from './queries.ts';

/** Context, subject, note and actor of an event, while the first three exist. */
export type Found = {
  context: NotificationContext;
  kind: NotificationSubject;
  subject: LoadedSubject;
  /** The note that the event is about, if it is. */
  note: Note | undefined;
  /** Undefined where the account is gone. */
  doer: Doer | undefined;
};

/**
 * Loads the subject of an event; undefined when it, its project or group, or the note is gone, or its kind is
 * not registered.
 */
export async function findSubject(
  services: Needs<'database' | 'repositories' | 'registered' | 'baseUrl'>,
  job: NotificationJob,
): Promise<Found | undefined> {
  const kind = notificationSubjects.all(services).find((each) => each.kind === job.event.subject.kind);
  if (!kind) return undefined;
  const named = { ...job.event, subject: kind.select?.(job.event) };
  const loaded = await loadNotificationContext(services.database.background, named);
  if (!loaded) return undefined;
  const { context, note, doer, row } = loaded;
  const subject = await kind.load({ services, context, job, row });
  return subject && { context, note, doer, kind, subject };
}

/** The event as audiences are decided by; `calledBy` finds the mentions once for all recipients. */
export const eventContextOf = (
  { event }: NotificationJob,
  { context, kind, subject }: Found,
  mentionedIds: ReadonlySet<number>,
): EventContext => ({
  event,
  subject: kind,
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
  services: Needs<'database'>,
  { event }: NotificationJob,
  { context, subject, note }: Found,
): Promise<Set<number>> {
  if (!calling.has(event.name)) return new Set();
  const names = mentionedNames(note ? note.body : subject.said);
  if (names.length === 0) return new Set();
  const { background: db, points } = services.database;
  const people = await usersByName(
    db,
    names.filter((name) => name !== ALL),
  );
  const alone = new Set(people.map(({ username }) => username.toLowerCase()));
  const many = names.filter((name) => !alone.has(name));
  const caller = many.length > 0 && (await personOf(services, event.actorId));
  const visitor = caller && (await findVisitors(services, context, [caller])).get(caller.id);
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
