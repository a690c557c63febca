/** What comes due with the time of an instance. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { App } from '../../app.ts';
import { now } from '../../platform/clock.ts';
import { dueBetween } from '../../platform/jobs/due.ts';
import { addJobs } from '../../platform/jobs/jobs.ts';
import { countDue } from './queries.ts';

const SETTLE_POLL_MS = 20;
const SCHEDULE_POLL_MS = 1_000;

/** Nothing is on its way that is due. */
export async function settled({ services }: App, timeoutMs: number): Promise<void> {
  for (let waited = 0; waited < timeoutMs; waited += SETTLE_POLL_MS) {
    if ((await countDue(services.database.sql)) === 0) return;
    await sleep(SETTLE_POLL_MS);
  }
}

/** Runs what is scheduled for the minutes that begin after `after`, until then, each task once. */
export async function runSchedules({ capabilities, services }: App, after: Date, until: Date): Promise<void> {
  const schedules = capabilities.flatMap((capability) => capability.schedules ?? []);
  const tasks = dueBetween(schedules, after, until);
  await addJobs(
    services.database.background,
    tasks.map((task) => ({ task, payload: {} })),
  );
}

/** The workers run schedules in the minutes of the machine. */
export function keepSchedules(app: App): NodeJS.Timeout {
  let until = now();
  const timer = setInterval(() => {
    const after = until;
    until = now();
    runSchedules(app, after, until).catch((error: unknown) =>
      app.services.log.error('schedules are late', error),
    );
  }, SCHEDULE_POLL_MS);
  return timer.unref();
}
