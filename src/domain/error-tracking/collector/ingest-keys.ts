/**
 * The project of a client key. The statement that stores a report decides; before that a recent result is
 * used, so that a flood of reports makes one query.
 */

import { monotonic } from '../../../platform/clock.ts';
import type { Sql } from '../../../platform/db/driver/sql.ts';
import { pointRead } from '../../../platform/db/point-read.ts';

export type IngestKey = { project_id: number };

/** The rows of a client key `c` that is active, while its project `p` keeps its errors here, by its settings `s`. */
export const activeIngestKeys = `error_tracking_client_keys c
    join error_tracking_settings s on s.project_id = c.project_id and s.active and s.integrated
    join projects p on p.id = c.project_id and not p.deleting and not p.archived
    join namespaces n on n.id = p.namespace_id
      and not exists (select from namespaces a where a.id = any(n.ancestor_ids || n.id) and a.archived)`;

const selectIngestKey = pointRead<IngestKey>(
  ['text'],
  `select c.project_id from ${activeIngestKeys} where c.public_key = k.v1 and c.active`,
);

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
