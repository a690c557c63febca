/** Active client keys, and the depth of the spool. */

import { now } from '../../../platform/clock.ts';
import type { Db } from '../../../platform/db/database.ts';
import { pointRead } from '../../../platform/db/point-read.ts';

export type Depth = { rows: number; seconds: number };

/** The number of waiting reports and the oldest one's time; undefined while the database does not answer. */
export async function countSpool(db: Db): Promise<Depth | undefined> {
  const counted = await db
    .selectFrom('error_spool')
    .select((eb) => [eb.fn.countAll<number>().as('rows'), eb.fn.min('received_at').as('oldest')])
    .executeTakeFirst()
    .catch(() => undefined);
  if (!counted) return undefined;
  // Null without rows, whatever the declared type.
  const oldest: Date | null = counted.oldest;
  return {
    rows: counted.rows,
    seconds: oldest === null ? 0 : Math.max(0, now().getTime() - oldest.getTime()) / 1_000,
  };
}

export type IngestKey = { project_id: number };

/** The rows of a client key `c` that is active, while its project `p` keeps its errors here, by its settings `s`. */
export const activeIngestKeys = `error_tracking_client_keys c
    join error_tracking_settings s on s.project_id = c.project_id and s.active and s.integrated
    join projects p on p.id = c.project_id and not p.deleting and not p.archived
    join namespaces n on n.id = p.namespace_id
      and not exists (select from namespaces a where a.id = any(n.ancestor_ids || n.id) and a.archived)`;

export const selectIngestKey = pointRead<IngestKey>(
  ['text'],
  `select c.project_id from ${activeIngestKeys} where c.public_key = k.v1 and c.active`,
);
