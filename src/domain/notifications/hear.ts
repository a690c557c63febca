/** Hears what was announced: finds the people page by page, and leaves a job for each who is to be told. */
import { hears } from '../../core/notifications/audience.ts';
import { candidateIds, prospectsAmong } from '../../core/notifications/candidates.ts';
import { type OccasionFacts, type OccasionName, occasionsOf } from '../../core/notifications/occasions.ts';
import type { Services } from '../../core/services.ts';
import type { Json } from '../../platform/db/rows.ts';
import { addJobs, type NewJob, type Task } from '../../platform/jobs/jobs.ts';
import { calledBy, findSubject, matterOf } from './matters.ts';
import { makeRoom } from './room.ts';
import { SEND, type Sending } from './send.ts';
import type { Hearing, SubjectSources } from './subjects.ts';

export const HEAR = 'notifications.hear';

/** People of one page: so many that a statement is worth it, so few that nothing else has to wait. */
const PAGE = 500;

/**
 * Others' jobs go first: mail that somebody waits for, and what keeps the instance in order. The next page comes after the
 * letters of the one before: so what very many hear of holds up what few hear of by one page at most.
 */
const PRIORITY = 10;

/** One page of those who may hear of it. */
export type HearPage = {
  hearing: Hearing;
  /** The last id of the page before. */
  after: number;
  /** Only people in these time zones. */
  zones?: readonly string[] | undefined;
};

/** The job that hears of it, from the first page. */
export const hearJob = (page: HearPage): NewJob => ({
  task: HEAR,
  payload: page,
  key: `${HEAR} ${page.hearing.name} ${page.hearing.occasion.event} ${page.zones?.[0] ?? ''} ${page.after}`,
  priority: PRIORITY,
});

const sendJob = (sending: Sending): NewJob => ({
  task: SEND,
  payload: sending,
  key: `${SEND} ${sending.hearing.name} ${sending.hearing.occasion.event} ${sending.userId}`,
  priority: PRIORITY,
});

/** The jobs that a page gives: one for each who hears of it, and the next page where there may be one. */
async function jobsOf(services: Services, sources: SubjectSources, page: HearPage): Promise<NewJob[]> {
  const { hearing, after, zones } = page;
  await makeRoom(services, hearing.at);
  const found = await findSubject(services, sources, hearing);
  if (!found || found.place.emailsDisabled) return [];
  const { background: db } = services.database;
  const mentionedIds = await calledBy(services, hearing, found);
  const matter = matterOf(hearing, found, mentionedIds);
  const ids = await candidateIds(db, matter, { after, limit: PAGE, zones });
  // What each may see is asked when they are told: that may be later.
  const told = (await prospectsAmong(db, matter, ids)).filter(({ candidate }) =>
    hears(hearing.occasion, candidate),
  );
  const last = ids.at(-1);
  return [
    ...told.map(({ candidate: { id } }) => sendJob({ hearing, userId: id, mentioned: mentionedIds.has(id) })),
    ...(last !== undefined && ids.length === PAGE ? [hearJob({ ...page, after: last })] : []),
  ];
}

/** The task that hears one page. */
export function hearTask(services: Services, sources: SubjectSources): Task {
  return async (payload) => {
    // Written by hearJob() only.
    await addJobs(services.database.background, await jobsOf(services, sources, payload as HearPage));
  };
}

/** The task that hears a fact by this name: what it gives to hear of, from the first page of each. */
export function factTask<Name extends OccasionName>(
  services: Services,
  sources: SubjectSources,
  name: Name,
): Task {
  return async ({ fact_id, fact_at, ...told }) => {
    // The payload is what was announced under the name.
    const occasions = occasionsOf(name, told as OccasionFacts[Name]);
    const at = String(fact_at);
    const jobs: NewJob[] = [];
    for (const occasion of occasions) {
      const hearing = { name: String(fact_id), occasion, told: told as Record<string, Json>, at };
      jobs.push(...(await jobsOf(services, sources, { hearing, after: 0 })));
    }
    // All at once, or, when something fails, none: then the fact is heard again from the beginning.
    await addJobs(services.database.background, jobs);
  };
}
