/** Fans an event out: finds its recipients page by page, and adds a job for each. */

import type { Needs } from '../../../kernel/services.ts';
import type { Json } from '../../../platform/db/rows.ts';
import { addJobs, type NewJob, type Task } from '../../../platform/jobs/jobs.ts';
import { notificationReason } from '../audience/audience.ts';
import { candidateIds, prospectsAmong } from '../audience/candidate-queries.ts';
import type { NotificationFact } from '../events/events.ts';
import type { NotificationJob } from '../events/subjects.ts';
import { calledBy, eventContextOf, findSubject } from './event-context.ts';
import { SEND, type Sending } from './send.ts';
import { yieldToRequests } from './yield-to-requests.ts';

export const FAN_OUT = 'notifications.fan_out';

/** Users of one page: enough to make a statement worth it, few enough not to delay other jobs. */
const PAGE_SIZE = 500;

/**
 * Other jobs go first: account mails and housekeeping. The next page follows the mails of the one before, so
 * an event with very many recipients delays one with few by one page at most.
 */
const PRIORITY = 10;

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

const sendJob = (sending: Sending): NewJob => ({
  task: SEND,
  payload: sending,
  key: `${SEND} ${sending.job.name} ${sending.job.event.name} ${sending.userId}`,
  priority: PRIORITY,
});

/** The jobs of a page: one for each recipient, and the next page where there may be one. */
async function jobsOf(
  services: Needs<'database' | 'repositories' | 'registered' | 'baseUrl' | 'inFlight'>,
  page: FanOutPage,
): Promise<NewJob[]> {
  const { job, after, zones } = page;
  await yieldToRequests(services, job.at);
  const found = await findSubject(services, job);
  if (!found || found.context.emailsDisabled) return [];
  const { background: db } = services.database;
  const mentionedIds = await calledBy(services, job, found);
  const context = eventContextOf(job, found, mentionedIds);
  const ids = await candidateIds(db, context, { after, limit: PAGE_SIZE, zones });
  // Access is checked when the mail is sent, which may be later.
  const told = (await prospectsAmong(db, context, ids)).filter(({ candidate }) =>
    notificationReason(job.event, candidate),
  );
  const last = ids.at(-1);
  return [
    ...told.map(({ candidate: { id } }) => sendJob({ job, userId: id, mentioned: mentionedIds.has(id) })),
    ...(last !== undefined && ids.length === PAGE_SIZE ? [fanOutJob({ ...page, after: last })] : []),
  ];
}

/** The task of one page. */
export function fanOutTask(
  services: Needs<'database' | 'repositories' | 'registered' | 'baseUrl' | 'inFlight'>,
): Task {
  return async (payload) => {
    // Written by fanOutJob() only.
    await addJobs(services.database.background, await jobsOf(services, payload as FanOutPage));
  };
}

/** The task of a fact: fans out the first page of each of its events. */
export function factTask(
  services: Needs<'database' | 'repositories' | 'registered' | 'baseUrl' | 'inFlight'>,
  fact: NotificationFact,
): Task {
  return async ({ fact_id, fact_at, ...written }) => {
    const payload = written as Record<string, Json>;
    const at = String(fact_at);
    const jobs: NewJob[] = [];
    for (const event of fact.eventsOf(payload)) {
      const job = { name: String(fact_id), event, payload, at };
      jobs.push(...(await jobsOf(services, { job, after: 0 })));
    }
    // In one statement: a failure adds no job, and the fact is fanned out again.
    await addJobs(services.database.background, jobs);
  };
}
