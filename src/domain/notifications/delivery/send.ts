/** Sends the mails of an event to its recipients, after a check that they may still read its subject. */

import { mailSender } from '../../../kernel/mail/site-mail.ts';
import type { Needs } from '../../../kernel/services.ts';
import { monotonic } from '../../../platform/clock.ts';
import { addJobs, type NewJob, type Task } from '../../../platform/jobs/jobs.ts';
import { localesKnown } from '../../../platform/locales.ts';
import type { Mailer } from '../../../platform/mail/mailer.ts';
import { readerRule } from '../../conversation/index.ts';
import { renderMarkdown } from '../../markdown/index.ts';
import { notificationReason } from '../audience/audience.ts';
import { findProspects, type Mailbox, type Prospect } from '../audience/candidate-queries.ts';
import { findVisitors } from '../audience/context-queries.ts';
import type { Reason } from '../events/events.ts';
import type { NotificationJob, Visitor } from '../events/subjects.ts';
import { cutBody } from '../mails/bodies.ts';
import type { Body } from '../mails/inputs.ts';
import { composeMail } from '../mails/mail.ts';
import { SETTINGS_PATH } from '../settings/views.ts';
import { unsubscribeUrl } from '../unsubscribe/links.ts';
import { eventContextOf, type Found, findSubject } from './event-context.ts';
import { yieldToRequests } from './yield-to-requests.ts';

export const SEND = 'notifications.send';
export const SEND_MANY = 'notifications.send_many';

/**
 * Other jobs go first: account mails and housekeeping. The next page follows the mails of the one before, so
 * an event with very many recipients delays one with few by one page at most.
 */
export const PRIORITY = 10;

/** The payload of a job: the mail of an event to one user. */
export type Sending = {
  job: NotificationJob;
  userId: number;
  /** Whether the text mentions the user. */
  mentioned: boolean;
};

/** The payload of a job: the mails of an event to these users. */
export type SendingToMany = {
  job: NotificationJob;
  userIds: readonly number[];
  mentionedIds: readonly number[];
};

/** The job of one mail. */
export const sendJob = (sending: Sending): NewJob => ({
  task: SEND,
  payload: sending,
  key: `${SEND} ${sending.job.name} ${sending.job.event.name} ${sending.userId}`,
  priority: PRIORITY,
});

/** The job of some mails. */
export const sendManyJob = (sending: SendingToMany): NewJob => ({
  task: SEND_MANY,
  payload: sending,
  key: `${SEND_MANY} ${sending.job.name} ${sending.job.event.name} ${sending.userIds[0]}`,
  priority: PRIORITY,
});

/** The access of recipients to the subject or note; without those who may not read it. */
async function findReaders(
  services: Needs<'database'>,
  { context, subject, note }: Found,
  prospects: readonly Prospect[],
): Promise<Map<number, Visitor>> {
  const people = prospects.map(({ person }) => person);
  const { ability } = subject;
  const all = await findVisitors(services, context, people);
  const visitors =
    ability === undefined ? all : new Map([...all].filter(([, { project }]) => project?.may(ability)));
  const [any] = visitors.values();
  if (!any || !subject.targetFor) return visitors;
  const reads = await readerRule(services.database.background, subject.targetFor(any), note?.internal);
  return new Map([...visitors].filter(([, visitor]) => reads(visitor.actor, visitor)));
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

type Contents = Awaited<ReturnType<Found['subject']['contents']>>;
type Delivery = {
  job: NotificationJob;
  found: Found;
  contents: Contents;
  visitor: Visitor;
  reason: Reason;
  mailbox: Mailbox;
};

async function compose(
  services: Needs<'config' | 'database' | 'repositories' | 'registered' | 'secretKey' | 'baseUrl'>,
  { job, found, contents: { description, ...contents }, visitor, reason, mailbox }: Delivery,
) {
  const { context, subject, note, doer } = found;
  const url = services.baseUrl();
  const { id } = visitor.actor;
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
    actor: doer,
    at: note?.created_at ?? subject.at ?? new Date(job.at),
    site: { url, host: mailSender(services).host, settingsUrl: `${url}${SETTINGS_PATH}` },
    unsubscribeUrl: unsubscribeUrl(services, id, job.event, context),
  });
}

export type MailServices = Needs<
  'config' | 'database' | 'repositories' | 'registered' | 'secretKey' | 'baseUrl' | 'inFlight'
>;

/** Milliseconds after which one job begins no further mail: there are few workers, and a mail server may be slow. */
const SENDING_TIMEOUT_MS = 1_000;

/**
 * Sends the mail of the event to each of the prospects who wants it and may read its subject. Calls `failed` where a mail
 * was not taken, and for those that were not begun in time; the others are sent nevertheless.
 */
export async function sendMails(
  services: MailServices,
  mailer: Mailer,
  { job, found }: { job: NotificationJob; found: Found },
  prospects: readonly Prospect[],
  failed: (userId: number, error: unknown) => void,
): Promise<void> {
  const readers = await findReaders(services, found, prospects);
  const contents = readers.size === 0 ? undefined : await found.subject.contents();
  if (contents) await localesKnown();
  const until = monotonic() + SENDING_TIMEOUT_MS;
  for (const { candidate, mailbox } of prospects) {
    const visitor = readers.get(candidate.id);
    const reason = notificationReason(job.event, candidate);
    if (!visitor || !reason || !contents) continue;
    try {
      if (monotonic() > until) throw new Error('the mails before it took too long');
      const mail = await compose(services, { job, found, contents, visitor, reason, mailbox });
      await mailer.send({ ...mail, to: mailbox.address });
    } catch (error) {
      failed(candidate.id, error);
    }
  }
}

/** Looks again for the event and the users, and sends the mails. */
async function sendAgain(
  services: MailServices,
  mailer: Mailer,
  { job, userIds, mentionedIds }: SendingToMany,
  failed: (userId: number, error: unknown) => void,
): Promise<void> {
  await yieldToRequests(services, job.at);
  const found = await findSubject(services, job);
  if (!found) return;
  const context = eventContextOf(job, found, new Set(mentionedIds));
  const prospects = await findProspects(services.database.background, context, { ids: userIds });
  await sendMails(services, mailer, { job, found }, prospects, failed);
}

/** The task that sends one mail. It may run twice: then both mails have the same id. */
export function sendTask(services: MailServices, mailer: Mailer): Task {
  return async (payload) => {
    // Only fan-out.ts writes it.
    const { job, userId, mentioned } = payload as Sending;
    const one = { job, userIds: [userId], mentionedIds: mentioned ? [userId] : [] };
    await sendAgain(services, mailer, one, (_, error) => {
      throw error;
    });
  };
}

/** The task that sends some mails; one that was not taken becomes a job of its own. */
export function sendManyTask(services: MailServices, mailer: Mailer): Task {
  return async (payload) => {
    // As above.
    const sending = payload as SendingToMany;
    const failed: number[] = [];
    await sendAgain(services, mailer, sending, (userId) => failed.push(userId));
    const { job, mentionedIds } = sending;
    await addJobs(
      services.database.background,
      failed.map((userId) => sendJob({ job, userId, mentioned: mentionedIds.includes(userId) })),
    );
  };
}
