/** When nothing should be deployed (facts: Freeze periods). Pure. */
import { invalid } from '../../../platform/failure.ts';
import { nextTime, zoneOf } from '../cron/times.ts';

export type Freeze = { freeze_start: string; freeze_end: string; cron_timezone: string };

/** Of one project: each pipeline asks all of them. */
export const MAX_FREEZE_PERIODS = 100;

/** 400 where the project has as many as it may have. */
export function requirePlace(count: number): void {
  if (count >= MAX_FREEZE_PERIODS)
    throw invalid({ base: [`Maximum number of freeze periods (${MAX_FREEZE_PERIODS}) exceeded`] });
}

/** When it begins and ends next; undefined for what is never, or is wrong. */
function timesOf({ freeze_start, freeze_end, cron_timezone }: Freeze, from: Date) {
  const zone = zoneOf(cron_timezone);
  if (zone === undefined) return {};
  const [start, end] = [freeze_start, freeze_end].map((cron) => nextTime(cron.trim(), zone, from));
  return { zone, start, end };
}

/** 400 for patterns and zones that there are not. */
export function requireTimes(freeze: Freeze, from: Date): void {
  const { zone, start, end } = timesOf(freeze, from);
  const wrong = {
    ...(zone === undefined && { cron_timezone: ['is invalid syntax'] }),
    ...(zone !== undefined && !start && { freeze_start: ['is invalid syntax'] }),
    ...(zone !== undefined && !end && { freeze_end: ['is invalid syntax'] }),
  };
  if (Object.keys(wrong).length > 0) throw invalid(wrong);
}

/** Whether the time is in a period: the next that happens is its end. */
export const isFrozen = (periods: readonly Freeze[], time: Date): boolean =>
  periods.some((freeze) => {
    const { start, end } = timesOf(freeze, time);
    return start !== undefined && end !== undefined && end < start;
  });
