/** Hears what was announced: finds the people page by page, and leaves a job for each who is to be told. */
import { notificationReason } from '../../core/notifications/audience.ts';
import { candidateIds, prospectsAmong } from '../../core/notifications/candidates.ts';
import {
  type NotificationFactName,
  type NotificationFacts,
  notificationEventsOf,
} from '../../core/notifications/events.ts';
import type { Services } from '../../core/services.ts';
import type { Json } from '../../platform/db/rows.ts';
import { addJobs, type NewJob, type Task } from '../../platform/jobs/jobs.ts';
import { calledBy, eventContextOf, findSubject } from './event-context.ts';
import { SEND, type Sending } from './send.ts';
import type { NotificationJob, SubjectSources } from './subjects.ts';
import { yieldToRequests } from './yield-to-requests.ts';

export const FAN_OUT = 'notifications.fan_out';

/** People of one page: so many that a statement is worth it, so few that nothing else has to wait. */
const PAGE_SIZE = 500;

/**
 * Others' jobs go first: mail that somebody waits for, and what keeps the instance in order. The next page comes after the
 * mails of the one before: so what very many hear of holds up what few hear of by one page at most.
 */
const PRIORITY = 10;

/** One page of those who may hear of it. */
export type FanOutPage = {
  job: NotificationJob;
  /** The last id of the page before. */
  after: number;
  /** Only people in these time zones. */
  zones?: readonly string[] | undefined;
};

/** The job that hears of it, from the first page. */
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

/** The jobs that a page gives: one for each who hears of it, and the next page where there may be one. */
async function jobsOf(services: Services, sources: SubjectSources, page: FanOutPage): Promise<NewJob[]> {
  const { job, after, zones } = page;
  await yieldToRequests(services, job.at);
  const found = await findSubject(services, sources, job);
  if (!found || found.context.emailsDisabled) return [];
  const { background: db } = services.database;
  const mentionedIds = await calledBy(services, job, found);
  const context = eventContextOf(job, found, mentionedIds);
  const ids = await candidateIds(db, context, { after, limit: PAGE_SIZE, zones });
  // What each may see is asked when they are told: that may be later.
  const told = (await prospectsAmong(db, context, ids)).filter(({ candidate }) =>
    notificationReason(job.event, candidate),
  );
  const last = ids.at(-1);
  return [
    ...told.map(({ candidate: { id } }) => sendJob({ job, userId: id, mentioned: mentionedIds.has(id) })),
    ...(last !== undefined && ids.length === PAGE_SIZE ? [fanOutJob({ ...page, after: last })] : []),
  ];
}

/** The task that hears one page. */
export function fanOutTask(services: Services, sources: SubjectSources): Task {
  return async (payload) => {
    // Written by fanOutJob() only.
    await addJobs(services.database.background, await jobsOf(services, sources, payload as FanOutPage));
  };
}

/** The task that hears a fact by this name: what it gives to hear of, from the first page of each. */
export function factTask<Name extends NotificationFactName>(
  services: Services,
  sources: SubjectSources,
  name: Name,
): Task {
  return async ({ fact_id, fact_at, ...payload }) => {
    // The payload is what was announced under the name.
    const events = notificationEventsOf(name, payload as NotificationFacts[Name]);
    const at = String(fact_at);
    const jobs: NewJob[] = [];
    for (const event of events) {
      const job = { name: String(fact_id), event, payload: payload as Record<string, Json>, at };
      jobs.push(...(await jobsOf(services, sources, { job, after: 0 })));
    }
    // All at once, or, when something fails, none: then the fact is heard again from the beginning.
    await addJobs(services.database.background, jobs);
  };
}
