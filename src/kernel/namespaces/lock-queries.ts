/** Settings that a group above enforces. */

import { sql } from 'kysely';
import type { Db } from '../../platform/db/database.ts';

/** Settings that apply to all descendants of their group. */
type Lock = 'share_with_group_lock' | 'membership_lock' | 'prevent_sharing_groups_outside_hierarchy';

/** Whether one of these groups, a project's or group's ancestors, has the lock. */
export async function isLockedAbove(db: Db, ancestorIds: readonly number[], lock: Lock): Promise<boolean> {
  const locked = await db
    .selectFrom('namespaces')
    .select('id')
    .where(sql<boolean>`id = any(${[...ancestorIds]}::bigint[])`)
    .where(sql<boolean>`settings -> ${sql.lit(lock)} = 'true'`)
    .limit(1)
    .executeTakeFirst();
  return locked !== undefined;
}
