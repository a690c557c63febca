/** Measures the spool. */

import { now } from '../../../platform/clock.ts';
import type { Db } from '../../../platform/db/database.ts';

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
