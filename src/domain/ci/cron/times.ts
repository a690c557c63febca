/** Times of the patterns of cron, in time zones (facts-ci: 5.4). Pure. */
import { Cron } from 'croner';
import { zoneNames } from './zone-names.ts';

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
