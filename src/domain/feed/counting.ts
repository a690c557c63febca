/** Remembers projects with more events than are counted, so that pages do not count up to the limit again. */
import { monotonic } from '../../platform/clock.ts';
import type { Db } from '../../platform/db/database.ts';

/** Milliseconds until the next count: retention may have deleted many. */
const CACHE_LIFETIME_MS = 60_000;
const MAX_KEPT = 1_000;

/** By database, then by project and caller: the time until which a count is valid. */
const known = new WeakMap<Db, Map<string, number>>();

/** The number of rows, at most `limit` + 1; counted once a minute where there are more. */
export async function countSeldom(
  db: Db,
  key: string,
  limit: number,
  count: () => Promise<number>,
): Promise<number> {
  const projects = known.get(db) ?? new Map<string, number>();
  if ((projects.get(key) ?? 0) > monotonic()) return limit + 1;
  const total = await count();
  if (projects.size >= MAX_KEPT) projects.clear();
  if (total > limit) projects.set(key, monotonic() + CACHE_LIFETIME_MS);
  known.set(db, projects);
  return total;
}
