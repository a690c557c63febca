/** Fans an event out: finds its recipients page by page, and sends their mails, or adds jobs that do. */

import type { Json } from '../../../platform/db/rows.ts';
import { addJobs, type NewJob, type Task } from '../../../platform/jobs/jobs.ts';
import type { Mailer } from '../../../platform/mail/mailer.ts';
import { notificationReason } from '../audience/audience.ts';
import { findProspects } from '../audience/candidate-queries.ts';
import type { NotificationFact } from '../events/events.ts';
import type { NotificationJob } from '../events/subjects.ts';
import { calledBy, eventContextOf, findSubject } from './event-context.ts';
import { type MailServices, PRIORITY, sendJob, sendMails, sendManyJob } from './send.ts';
import { yieldToRequests } from './yield-to-requests.ts';

export const FAN_OUT = 'notifications.fan_out';

/** Users of one page: enough to make a statement worth it, few enough not to delay other jobs. */
const PAGE_SIZE = 500;

/** One page of candidates. */
export type FanOutPage = {
  job: NotificationJob;
  /** The last id of the page before. */
  after: number;
  /** Only users in these time zones. */
  zones?: readonly string[] | undefined;
};

/** The job of a page. */
export const fanOutJob = (page: FanOutPage): NewJob => ({
  task: FAN_OUT,
  payload: page,
  key: `${FAN_OUT} ${page.job.name} ${page.job.event.name} ${page.zones?.[0] ?? ''} ${page.after}`,
  priority: PRIORITY,
});

/** So many mails are sent by one job: what they need is read once, and few are sent twice where the process dies. */
const MAILS_PER_JOB = 10;

/**
 * Sends the mails of a page where they are few, and returns the jobs of those that were not taken; else the jobs of the
 * mails, and of the next page where there may be one.
 */
async function fanOut(services: MailServices, mailer: Mailer, page: FanOutPage): Promise<NewJob[]> {
  const { job, after, zones } = page;
  await yieldToRequests(services, job.at);
  const found = await findSubject(services, job);
  if (!found || found.context.emailsDisabled) return [];
  const mentionedIds = await calledBy(services, job, found);
  const context = eventContextOf(job, found, mentionedIds);
  const bounds = { after, limit: PAGE_SIZE, zones };
  const prospects = await findProspects(services.database.background, context, bounds);
  const told = prospects.filter(({ candidate }) => notificationReason(job.event, candidate));
  if (prospects.length < PAGE_SIZE && told.length <= MAILS_PER_JOB) {
    const failed: NewJob[] = [];
    await sendMails(services, mailer, { job, found }, told, (userId) => {
      failed.push(sendJob({ job, userId, mentioned: mentionedIds.has(userId) }));
    });
    return failed;
  }
  const ids = told.map(({ candidate }) => candidate.id);
  const jobs: NewJob[] = [];
  for (let start = 0; start < ids.length; start += MAILS_PER_JOB) {
    const userIds = ids.slice(start, start + MAILS_PER_JOB);
    jobs.push(sendManyJob({ job, userIds, mentionedIds: userIds.filter((id) => mentionedIds.has(id)) }));
  }
  const last = prospects.at(-1)?.candidate.id;
  if (last !== undefined && prospects.length === PAGE_SIZE) jobs.push(fanOutJob({ ...page, after: last }));
  return jobs;
}

/** The task of one page. */
export function fanOutTask(services: MailServices, mailer: Mailer): Task {
  return async (payload) => {
    // Written by fanOutJob() only.
    await addJobs(services.database.background, await fanOut(services, mailer, payload as FanOutPage));
  };
}

/**
 * The task of a fact: fans out the first page of its first event. Further events are jobs: what fails with one sends the
 * mails of no other again.
 */
export function factTask(services: MailServices, mailer: Mailer, fact: NotificationFact): Task {
  return async ({ fact_id, fact_at, ...written }) => {
    const payload = written as Record<string, Json>;
    const at = String(fact_at);
    const [first, ...others] = fact
      .eventsOf(payload)
      .map((event): FanOutPage => ({ job: { name: String(fact_id), event, payload, at }, after: 0 }));
    if (!first) return;
    const left = await fanOut(services, mailer, first);
    // In one statement: a failure adds no job, and the fact is fanned out again.
    await addJobs(services.database.background, [...left, ...others.map(fanOutJob)]);
  };
}
