/** Sends the mail of an event to one recipient, after a check that they may still read its subject. */

import { mailSender } from '../../../kernel/mail/site-mail.ts';
import type { Needs } from '../../../kernel/services.ts';
import type { Task } from '../../../platform/jobs/jobs.ts';
import { localesKnown } from '../../../platform/locales.ts';
import type { Mailer } from '../../../platform/mail/mailer.ts';
import { readersAmong } from '../../conversation/index.ts';
import { renderMarkdown } from '../../markdown/index.ts';
import { notificationReason } from '../audience/audience.ts';
import { type Prospect, prospectsAmong } from '../audience/candidate-queries.ts';
import { findVisitor } from '../audience/context-queries.ts';
import type { Reason } from '../events/events.ts';
import type { NotificationJob, Visitor } from '../events/subjects.ts';
import { cutBody } from '../mails/bodies.ts';
import type { Body } from '../mails/inputs.ts';
import { composeMail } from '../mails/mail.ts';
import { SETTINGS_PATH } from '../settings/views.ts';
import { unsubscribeUrl } from '../unsubscribe/links.ts';
import { eventContextOf, type Found, findSubject } from './event-context.ts';
import { doerOf, type Mailbox, mailboxOf } from './queries.ts';
import { yieldToRequests } from './yield-to-requests.ts';

export const SEND = 'notifications.send';

/** The payload of a job: the mail of an event to one user. */
export type Sending = {
  job: NotificationJob;
  userId: number;
  /** Whether the text mentions the user. */
  mentioned: boolean;
};

/** The recipient's access to the subject or note; undefined where they may not read it. */
async function findReader(
  services: Needs<'database'>,
  { context, subject, note }: Found,
  { person }: Prospect,
): Promise<Visitor | undefined> {
  const visitor = await findVisitor(services, context, person);
  const noteable = visitor && subject.targetFor?.(visitor);
  if (!visitor || !noteable) return subject.targetFor ? undefined : visitor;
  const { background, points } = services.database;
  const readers = await readersAmong(background, points, noteable, [person], note?.internal ?? false);
  return readers.has(person.id) ? visitor : undefined;
}

/** The text rendered for the visitor; undefined without one. */
async function bodyFor(
  services: Needs<'database' | 'repositories' | 'registered' | 'baseUrl'>,
  { actor: reader, project }: Visitor,
  whole: string | null | undefined,
): Promise<Body | undefined> {
  if (!whole) return undefined;
  const { text, cut } = cutBody(whole);
  return { text, html: await renderMarkdown(text, { gfm: true }, { services, reader, project }), cut };
}

type Delivery = { job: NotificationJob; found: Found; visitor: Visitor; reason: Reason; mailbox: Mailbox };

async function compose(
  services: Needs<'config' | 'database' | 'repositories' | 'registered' | 'secretKey' | 'baseUrl'>,
  { job, found, visitor, reason, mailbox }: Delivery,
) {
  const { context, subject, note } = found;
  const url = services.baseUrl();
  const { id } = visitor.actor;
  const { description, ...contents } = await subject.contents();
  return composeMail({
    ...contents,
    event: job.event.name,
    body: await bodyFor(services, visitor, note ? note.body : description),
    note: note && {
      url: `${contents.target.url}#note_${note.id}`,
      reply: note.reply,
      internal: note.internal,
      discussionId: note.discussion_id,
    },
    name: job.name,
    reason,
    recipient: { id, language: mailbox.language, timezone: mailbox.timezone },
    place: {
      kind: context.kind,
      id: context.id,
      name: context.name,
      fullName: context.fullName,
      fullPath: context.fullPath,
      url: `${url}/${context.kind === 'group' ? 'groups/' : ''}${context.fullPath}`,
    },
    actor: await doerOf(services.database.background, job),
    at: note?.created_at ?? subject.at ?? new Date(job.at),
    site: { url, host: mailSender(services).host, settingsUrl: `${url}${SETTINGS_PATH}` },
    unsubscribeUrl: unsubscribeUrl(services, id, job.event, context),
  });
}

/** The task that sends one mail. It may run twice: then both mails have the same id. */
export function sendTask(
  services: Needs<
    'config' | 'database' | 'repositories' | 'registered' | 'secretKey' | 'baseUrl' | 'inFlight'
  >,
  mailer: Mailer,
): Task {
  const db = services.database.background;
  return async (payload) => {
    // Only fan-out.ts writes it.
    const { job, userId, mentioned } = payload as Sending;
    await yieldToRequests(services, job.at);
    const found = await findSubject(services, job);
    if (!found) return;
    const context = eventContextOf(job, found, new Set(mentioned ? [userId] : []));
    const [prospect] = await prospectsAmong(db, context, [userId]);
    const visitor = prospect && (await findReader(services, found, prospect));
    if (!visitor) return;
    const reason = notificationReason(job.event, prospect.candidate);
    if (!reason) return;
    const mailbox = await mailboxOf(db, userId);
    await localesKnown();
    const mail = await compose(services, { job, found, visitor, reason, mailbox });
    await mailer.send({ ...mail, to: mailbox.address });
  };
}
