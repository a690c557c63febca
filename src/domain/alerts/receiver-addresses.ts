/** What the addresses of receivers can mean: which project, and which kind of integration. Pure. */
import type { Kind } from '../../core/alerts/records.ts';

/** A project by its full path, in lower case, and the kind of integration that is asked for there. */
export type Reading = { path: string; kind: Kind };

/** `…/metrics`, or as existing configurations have it, with the dash before it or not. */
const metricsEnding = /^(.+?)(\/-)?\/(?:metrics|prometheus)$/;

/**
 * The readings of what stands before `/alerts/notify`, the most literal first: `g/metrics` is a project's path, or the
 * metrics integration of `g`. None where it can be neither.
 */
export function readingsOf(path: string): Reading[] {
  const [, project, dash] = metricsEnding.exec(path) ?? [];
  const readings: Reading[] = [];
  if (dash === undefined) readings.push({ path: path.replace(/\/-$/, ''), kind: 'http' });
  if (project !== undefined) readings.push({ path: project, kind: 'metrics' });
  // A NUL byte, which the database would choke on, names nothing.
  return readings
    .filter((reading) => /^[^\0]+\/[^/\0]+$/.test(reading.path))
    .map((reading) => ({ ...reading, path: reading.path.toLowerCase() }));
}
