/** Sends reminders of issues that are due tomorrow, in the morning of each recipient's zone. */

import { setImmediate as turn } from 'node:timers/promises';
import type { Needs } from '../../../kernel/services.ts';
import { now } from '../../../platform/clock.ts';
import { inTransaction } from '../../../platform/db/database.ts';
import { addJobs, type NewJob, type Task } from '../../../platform/jobs/jobs.ts';
import { notificationEvent } from '../events/events.ts';
import { HOUR_MS, selectDueIssues, selectZones, takeHours } from './due-date-actions.ts';
import { fanOutJob } from './fan-out.ts';

export const DUE = 'notifications.due';
export const DUE_PAGE = 'notifications.due_page';

/** The local hour of reminders. */
const MORNING_HOUR = 8;
const DAY_MS = 24 * HOUR_MS;
const PAGE_SIZE = 200;

/** The zones where an hour is the morning's, and tomorrow's date there. */
export type Morning = { tomorrow: string; zones: string[] };

/** Local day and hour in a zone; in UTC where the zone is unknown. */
function localTime(zone: string, time: Date): { day: Date; hour: number } {
  const parts = {
    hourCycle: 'h23',
    year: 'numeric',
    month: '2-digit',
    day: '2-digit',
    hour: '2-digit',
  } as const;
  let format: Intl.DateTimeFormat;
  try {
    format = new Intl.DateTimeFormat('en-CA', { ...parts, timeZone: zone || 'UTC' });
  } catch {
    format = new Intl.DateTimeFormat('en-CA', { ...parts, timeZone: 'UTC' });
  }
  const values = new Map(format.formatToParts(time).map(({ type, value }) => [type, value]));
  const day = new Date(`${values.get('year')}-${values.get('month')}-${values.get('day')}T00:00:00Z`);
  return { day, hour: Number(values.get('hour')) };
}

/** The zones whose morning hour begins at `time`, by tomorrow's date there. */
export function mornings(zones: readonly string[], time: Date): Morning[] {
  const found = new Map<string, string[]>();
  for (const zone of zones) {
    const { day, hour } = localTime(zone, time);
    if (hour !== MORNING_HOUR) continue;
    const tomorrow = new Date(day.getTime() + DAY_MS).toISOString().slice(0, 10);
    found.set(tomorrow, [...(found.get(tomorrow) ?? []), zone]);
  }
  return [...found].map(([tomorrow, inZones]) => ({ tomorrow, zones: inZones }));
}

/** A lookup takes 0.1 ms for each zone: after so many the task yields. */
const ZONES_AT_ONCE = 50;

/** The same for many zones, yielding between slices. */
async function morningsIn(zones: readonly string[], hour: number): Promise<Morning[]> {
  const found = new Map<string, string[]>();
  for (let from = 0; from < zones.length; from += ZONES_AT_ONCE) {
    for (const morning of mornings(zones.slice(from, from + ZONES_AT_ONCE), new Date(hour)))
      found.set(morning.tomorrow, [...(found.get(morning.tomorrow) ?? []), ...morning.zones]);
    await turn();
  }
  return [...found].map(([tomorrow, inZones]) => ({ tomorrow, zones: inZones }));
}

type DuePage = Morning & { after: number };

const pageJob = (page: DuePage): NewJob => ({
  task: DUE_PAGE,
  payload: page,
  key: `${DUE_PAGE} ${page.tomorrow} ${page.zones[0]} ${page.after}`,
});

/** The hourly task: adds a job for each date that is tomorrow where it is morning, once for each hour. */
export function dueDateTask({ database }: Needs<'database'>): Task {
  return () =>
    inTransaction(database.background, async (tx) => {
      const hours = await takeHours(tx, now());
      const zones = await selectZones(tx);
      const found: Morning[] = [];
      for (const hour of hours) found.push(...(await morningsIn(zones, hour)));
      await addJobs(
        tx,
        found.map((morning) => pageJob({ ...morning, after: 0 })),
      );
    });
}

/** The task that fans out reminders of a page of issues that are due on a day. */
export function dueDatePageTask({ database }: Needs<'database'>): Task {
  const db = database.background;
  return async (payload) => {
    // Written by pageJob() only.
    const { tomorrow, zones, after } = payload as DuePage;
    const issues = await selectDueIssues(db, tomorrow, after, PAGE_SIZE);
    const at = now().toISOString();
    const jobs = issues.map(({ id, project_id }) => {
      const told = { project_id, issue_id: id, due_date: tomorrow };
      const event = notificationEvent('issue_due', { projectId: project_id, subject: { kind: 'issue', id } });
      return fanOutJob({ job: { name: `due-${id}-${tomorrow}`, event, payload: told, at }, after: 0, zones });
    });
    const last = issues.at(-1);
    if (last && issues.length === PAGE_SIZE) jobs.push(pageJob({ tomorrow, zones, after: last.id }));
    await addJobs(db, jobs);
  };
}
