/** When schedules are due (facts-ci: 5.4). Pure. */
import { nextTime, zoneOf } from '../cron/times.ts';

const MINUTE_MS = 60_000;
const WORKER_MINUTES = 10;
const WORKER_OFFSET = 3;

/** The minutes of each hour in which due schedules are taken, one by one: background work knows no steps of ranges. */
export const WORKER_PATTERN = `${Array.from({ length: 60 / WORKER_MINUTES }, (_, at) => WORKER_OFFSET + at * WORKER_MINUTES).join()} * * * *`;

/** The first time from this one on at which due schedules are taken. */
function workersTime(time: Date): Date {
  const [step, offset] = [WORKER_MINUTES * MINUTE_MS, WORKER_OFFSET * MINUTE_MS];
  return new Date(Math.ceil((time.getTime() - offset) / step) * step + offset);
}

export type Timing = { cron: string; cron_timezone: string };

/** When a schedule is due after `from`, or which of its properties is wrong. */
export function nextRun({ cron, cron_timezone }: Timing, from: Date): Date | keyof Timing {
  const zone = zoneOf(cron_timezone);
  if (zone === undefined) return 'cron_timezone';
  const time = nextTime(cron.trim(), zone, from);
  return time ? workersTime(time) : 'cron';
}
