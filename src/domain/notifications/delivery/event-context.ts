/** Loads the context of a notification event: once for the fan-out, and again for each recipient. */

import { toActor } from '../../../kernel/actor.ts';
import type { Services } from '../../../kernel/services.ts';
import type { Db } from '../../../platform/db/database.ts';
import {
  ALL,
  findGroupMentions,
  mentionedNames,
  type NoteRow,
  type Person,
  usersByName,
} from '../../conversation/index.ts';
import type { EventContext } from '../audience/candidates.ts';
import type { NotificationEventName } from '../audience/levels.ts';
import { findVisitor, loadNotificationContext } from '../audience/notification-context.ts';
import {
  type LoadedSubject,
  type NotificationContext,
  type NotificationJob,
  type NotificationSubject,
  notificationSubjects,
} from '../events/subjects.ts';

type Note = Pick<NoteRow, 'id' | 'body' | 'internal' | 'discussion_id' | 'created_at'> & { reply: boolean };

/** Context, subject and note of an event, while all exist. */
export type Found = {
  context: NotificationContext;
  kind: NotificationSubject;
  subject: LoadedSubject;
  /** The note that the event is about, if it is. */
  note: Note | undefined;
};

/** The note; undefined where it is deleted. */
async function loadNote(db: Db, id: number): Promise<Note | undefined> {
  const note = await db
    .selectFrom('notes')
    .select(['id', 'body', 'internal', 'discussion_id', 'created_at'])
    .where('id', '=', id)
    .executeTakeFirst();
  if (!note) return undefined;
  const earlier = await db
    .selectFrom('notes')
    .select('id')
    .where('discussion_id', '=', note.discussion_id)
    .where('id', '<', note.id)
    .limit(1)
    .executeTakeFirst();
  return { ...note, reply: earlier !== undefined };
}

/**
 * Loads the subject of an event; undefined when it, its project or group, or the note is gone, or its kind is
 * not registered.
 */
export async function findSubject(services: Services, job: NotificationJob): Promise<Found | undefined> {
  const { event } = job;
  const db = services.database.background;
  const kind = notificationSubjects.all(services).find((each) => each.kind === event.subject.kind);
  const context = kind && (await loadNotificationContext(db, event));
  const subject = context && (await kind.load({ services, context, job }));
  if (!subject) return undefined;
  if (event.noteId === undefined) return { context, kind, subject, note: undefined };
  const note = await loadNote(db, event.noteId);
  return note && { context, kind, subject, note };
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
  services: Services,
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
