/**
 * The project of a client key. The statement that stores a report decides; before that a recent result is
 * used, so that a flood of reports makes one query.
 */

import { monotonic } from '../../../platform/clock.ts';
import type { Sql } from '../../../platform/db/driver/sql.ts';
import { type IngestKey, selectIngestKey } from './queries.ts';

/** Milliseconds, and number of keys, after which the cache is emptied. */
const CACHE_LIFETIME_MS = 10_000;
const MAX_CACHED_KEYS = 10_000;

export type IngestKeys = {
  /** The project of a key, at most 10 s old; undefined where the key is not active. */
  find(key: string): Promise<IngestKey | undefined>;
  /** The same, from the database. */
  select(key: string): Promise<IngestKey | undefined>;
  /** Drops a key that proved inactive. */
  forget(key: string): void;
};

export function createIngestKeys(points: Sql): IngestKeys {
  let lately = new Map<string, IngestKey>();
  let end = 0;
  async function look(key: string): Promise<IngestKey | undefined> {
    const ingestKey = await selectIngestKey(points, [key]);
    if (ingestKey) lately.set(key, ingestKey);
    else lately.delete(key);
    return ingestKey;
  }
  return {
    async find(key) {
      if (monotonic() >= end || lately.size >= MAX_CACHED_KEYS) {
        lately = new Map();
        end = monotonic() + CACHE_LIFETIME_MS;
      }
      return lately.get(key) ?? (await look(key));
    },
    select: look,
    forget: (key) => void lately.delete(key),
  };
}
