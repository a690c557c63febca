/** When schedules are due (facts-ci: 5.4). Pure. */
import { Cron } from 'croner';
import { zoneNames } from './zone-names.ts';

const MINUTE_MS = 60_000;
const WORKER_MINUTES = 10;
const WORKER_OFFSET = 3;

/** The minutes of each hour in which due schedules are taken, one by one: background work knows no steps of ranges. */
export const WORKER_PATTERN = `${Array.from({ length: 60 / WORKER_MINUTES }, (_, at) => WORKER_OFFSET + at * WORKER_MINUTES).join()} * * * *`;

/** The library takes dates and patterns of seconds too. */
const isPattern = /^(@[a-z]+|\S+( +\S+){4})$/i;

/** The IANA name; undefined for a zone that nobody knows. */
export function zoneOf(name: string): string | undefined {
  const zone = zoneNames[name] ?? name;
  try {
    new Intl.DateTimeFormat('en', { timeZone: zone });
    return zone;
  } catch {
    return undefined;
  }
}

/** The first time of the pattern after `from`; undefined for a pattern that is wrong or names no day. */
export function nextTime(cron: string, zone: string, from: Date): Date | undefined {
  if (!isPattern.test(cron)) return undefined;
  try {
    return new Cron(cron, { mode: '5-part', timezone: zone, paused: true }).nextRun(from) ?? undefined;
  } catch {
    return undefined;
  }
}

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
