/** Parses receivers' addresses into project and kind of integration. Pure. */
import type { Kind } from '../records.ts';

/** A project's full path in lower case, and the kind of integration. */
export type Reading = { path: string; kind: Kind };

/** `…/metrics`, or `prometheus` as in existing configurations, with or without `/-`. */
const metricsEnding = /^(.+?)(\/-)?\/(?:metrics|prometheus)$/;

/**
 * The readings of the path before `/alerts/notify`, the most literal first: `g/metrics` is a project's path,
 * or the metrics integration of `g`. Empty where it can be neither.
 */
export function readingsOf(path: string): Reading[] {
  const [, project, dash] = metricsEnding.exec(path) ?? [];
  const readings: Reading[] = [];
  if (dash === undefined) readings.push({ path: path.replace(/\/-$/, ''), kind: 'http' });
  if (project !== undefined) readings.push({ path: project, kind: 'metrics' });
  // PostgreSQL refuses a NUL byte.
  return readings
    .filter((reading) => /^[^\0]+\/[^/\0]+$/.test(reading.path))
    .map((reading) => ({ ...reading, path: reading.path.toLowerCase() }));
}
