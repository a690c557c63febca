/**
 * Projects with more events than are counted: what is beyond counting for a caller stays so, and need not be counted up to the
 * limit for each page again.
 */
import { monotonic } from '../../platform/clock.ts';
import type { Db } from '../../platform/db/database.ts';

/** Milliseconds until somebody counts again: retention may have taken many away. */
const CACHE_LIFETIME_MS = 60_000;
const MAX_KEPT = 1_000;

/** By database, and by project and caller: until when it is known. */
const known = new WeakMap<Db, Map<string, number>>();

/** How many there are, of at most `limit` and one; counted once a minute where they are more. */
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
