/** A folder of backups: how each is named, which of them go, and when one is missing. Pure. */
import { Cron } from 'croner';

const NAME = /^ashlar-\d{8}T\d{6}Z\.backup$/;

/** Names sort as the times do. */
export const backupName = (time: Date): string =>
  `ashlar-${time.toISOString().replace(/[-:]|\.\d{3}/g, '')}.backup`;

export const isBackupName = (name: string): boolean => NAME.test(name);

/** Of one that was cut off, or is being written. */
export const isDraftName = (name: string): boolean =>
  name.endsWith('.part') && isBackupName(name.slice(0, -'.part'.length).replace(/\.index$/, ''));

/**
 * The backups that go where `keep` are to stay: all but the latest, and those that one that stays borrows from, itself or by
 * another. `baseOf` has the names of their bases. What was just `made` stays, though others have names of later times: of a clock
 * that went wrong.
 */
export function toRemove(
  names: readonly string[],
  keep: number,
  baseOf: ReadonlyMap<string, string>,
  made?: string,
): string[] {
  const sorted = names.filter(isBackupName).sort();
  const staying = new Set([...sorted.slice(-keep), ...(made === undefined ? [] : [made])]);
  for (const name of staying) {
    const base = baseOf.get(name);
    // A set is walked to its end, with what is added meanwhile.
    if (base !== undefined) staying.add(base);
  }
  return sorted.filter((name) => !staying.has(name));
}

/** Runs that are looked at for the longest time between two. */
const RUNS = 32;

/** Whether the last backup is older than two of the times between the runs of the schedule (cron, UTC). */
export function isLate(last: Date, schedule: string, time: Date): boolean {
  const runs = new Cron(schedule, { timezone: 'UTC' }).nextRuns(RUNS, time).map((run) => run.getTime());
  const longest = Math.max(0, ...runs.slice(1).map((run, at) => run - (runs[at] ?? run)));
  return longest > 0 && time.getTime() - last.getTime() > 2 * longest;
}
