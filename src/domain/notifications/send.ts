/** Tells one person of what happened, if they still are to hear of it: nothing was seen by them before. */
import { hears, type Reason } from '../../core/notifications/audience.ts';
import { type Prospect, prospectsAmong } from '../../core/notifications/candidates.ts';
import type { Services } from '../../core/services.ts';
import { mailSender } from '../../core/site-mail.ts';
import { readersAmong } from '../../core/work/mentions.ts';
import type { Db } from '../../platform/db/database.ts';
import type { Task } from '../../platform/jobs/jobs.ts';
import type { Mailer } from '../../platform/mail/mailer.ts';
import { composeLetter } from './letters/letter.ts';
import { type Found, findSubject, matterOf } from './matters.ts';
import { findVisitor, type Visitor } from './place.ts';
import { makeRoom } from './room.ts';
import { SETTINGS_PATH } from './settings-views.ts';
import type { Hearing, SubjectSources } from './subjects.ts';
import { unsubscribeUrl } from './unsubscribe-links.ts';

export const SEND = 'notifications.send';

/** Whom a job tells of what. */
export type Sending = {
  hearing: Hearing;
  userId: number;
  /** Whether what was said called them. */
  mentioned: boolean;
};

/** The person as a visitor who sees the thing, or what is said on it; undefined when they do not. */
async function findReader(
  services: Services,
  { place, subject }: Found,
  { person }: Prospect,
): Promise<Visitor | undefined> {
  const visitor = await findVisitor(services, place, person);
  const target = visitor && subject.targetFor?.(visitor);
  if (!visitor || !target) return subject.targetFor ? undefined : visitor;
  const { background, points } = services.database;
  const readers = await readersAmong(background, points, target, [person], subject.internal);
  return readers.has(person.id) ? visitor : undefined;
}

type Mailbox = { address: string; language: string; timezone: string | null };

async function mailboxOf(db: Db, id: number): Promise<Mailbox> {
  const user = await db
    .selectFrom('users')
    .select(['email', 'notification_email', 'preferred_language', 'timezone'])
    .where('id', '=', id)
    .executeTakeFirstOrThrow();
  return {
    address: user.notification_email ?? user.email,
    language: user.preferred_language,
    timezone: user.timezone,
  };
}

/** Who did it, while they have an account. */
const doerOf = async (db: Db, { occasion }: Hearing) =>
  occasion.actorId === undefined
    ? undefined
    : db
        .selectFrom('users')
        .select(['name', 'username'])
        .where('id', '=', occasion.actorId)
        .executeTakeFirst();

type Telling = { hearing: Hearing; found: Found; visitor: Visitor; reason: Reason; mailbox: Mailbox };

async function compose(services: Services, { hearing, found, visitor, reason, mailbox }: Telling) {
  const { place, subject } = found;
  const url = services.baseUrl();
  const { id } = visitor.actor;
  return composeLetter({
    ...(await subject.tell(visitor)),
    occasion: hearing.name,
    reason,
    recipient: { id, language: mailbox.language, timezone: mailbox.timezone },
    place: {
      kind: place.kind,
      id: place.id,
      name: place.name,
      fullName: place.fullName,
      fullPath: place.fullPath,
      url: `${url}/${place.kind === 'group' ? 'groups/' : ''}${place.fullPath}`,
    },
    actor: await doerOf(services.database.background, hearing),
    at: subject.at ?? new Date(hearing.at),
    site: { url, host: mailSender(services).host, settingsUrl: `${url}${SETTINGS_PATH}` },
    unsubscribeUrl: unsubscribeUrl(services, id, hearing.occasion, place),
  });
}

/** The task that tells one person. It may run twice: then the second mail has the name of the first. */
export function sendTask(services: Services, mailer: Mailer, sources: SubjectSources): Task {
  const db = services.database.background;
  return async (payload) => {
    // Written by hear.ts only.
    const { hearing, userId, mentioned } = payload as Sending;
    await makeRoom(services, hearing.at);
    const found = await findSubject(services, sources, hearing);
    if (!found) return;
    const matter = matterOf(hearing, found, new Set(mentioned ? [userId] : []));
    const [prospect] = await prospectsAmong(db, matter, [userId]);
    const visitor = prospect && (await findReader(services, found, prospect));
    if (!visitor) return;
    const reason = hears(hearing.occasion, prospect.candidate);
    if (!reason) return;
    const mailbox = await mailboxOf(db, userId);
    const letter = await compose(services, { hearing, found, visitor, reason, mailbox });
    await mailer.send({ ...letter, to: mailbox.address });
  };
}
