/** Which schedules come due while time passes, for whoever moves it: the library goes by the machine's. */
import { type CronItem, parseCronItems } from 'graphile-worker';
import type { Schedule } from './jobs.ts';

const MINUTE_MS = 60_000;
/** Every pattern has its minute in four years and a day. */
const MAX_MINUTES = 1_461 * 24 * 60;

/** The tasks of those whose minute begins after `after`, and not after `until`; each once. */
export function dueBetween(schedules: readonly Schedule[], after: Date, until: Date): string[] {
  const last = Math.floor(until.getTime() / MINUTE_MS);
  const first = Math.max(Math.floor(after.getTime() / MINUTE_MS) + 1, last - MAX_MINUTES);
  const waiting = new Set(
    parseCronItems(schedules.map(({ task, pattern }): CronItem => ({ task, match: pattern }))),
  );
  const due: string[] = [];
  for (let minute = first; minute <= last && waiting.size > 0; minute++) {
    const at = new Date(minute * MINUTE_MS);
    const digest = {
      min: at.getUTCMinutes(),
      hour: at.getUTCHours(),
      date: at.getUTCDate(),
      month: at.getUTCMonth() + 1,
      dow: at.getUTCDay(),
    };
    for (const item of waiting)
      if (item.match(digest)) {
        due.push(item.task);
        waiting.delete(item);
      }
  }
  return due;
}
