/** Memberships that have expired give no access at once; here their rows are deleted and announced. */
import { sql } from 'kysely';
import { membershipSourceOf } from '../../../kernel/access/membership-actions.ts';
import { type Announcement, announceAll } from '../../../kernel/activity/announce-actions.ts';
import { type Db, inTransaction } from '../../../platform/db/database.ts';
import { today } from './queries.ts';
import type { Source } from './source.ts';

type Lapsed = {
  user_id: number;
  user_name: string;
  project_id: number | null;
  namespace_id: number;
  full_path: string;
};

/** Deletes the memberships with these ids and announces each as expired. */
async function expire(tx: Db, memberIds: readonly number[]): Promise<void> {
  if (memberIds.length === 0) return;
  const { rows } = await sql<Lapsed>`
    with gone as (delete from members where id = any(${[...memberIds]}::bigint[]) returning *)
    select m.user_id, u.name as user_name, m.project_id, n.id as namespace_id,
      concat_ws('/', n.full_path, p.path) as full_path
    from gone m join users u on u.id = m.user_id left join projects p on p.id = m.project_id
    join namespaces n on n.id = coalesce(m.namespace_id, p.namespace_id) order by m.id`.execute(tx);
  await announceAll(
    tx,
    rows.map(
      (row): Announcement => ({
        audit: {
          entity: membershipSourceOf(row).entity,
          event: 'member_destroyed',
          details: {
            remove: 'user_access',
            reason: 'access expired',
            target_id: row.user_id,
            target_type: 'User',
            target_details: row.user_name,
          },
        },
        ...(row.project_id !== null && {
          activity: { action: 'expired', projectId: row.project_id, authorId: row.user_id },
        }),
      }),
    ),
  );
}

/** Ends the expired ones of these users' memberships of the source, so that they can join anew. */
export async function removeLapsed(tx: Db, source: Source, userIds: readonly number[]): Promise<void> {
  const { rows } = await sql<{ id: number }>`
    select id from members where ${sql.ref(source.column)} = ${source.id}
      and user_id = any(${[...userIds]}::bigint[]) and expires_at <= ${today()} for update`.execute(tx);
  await expire(
    tx,
    rows.map((row) => row.id),
  );
}

const BATCH = 200;

/**
 * Ends every membership that has expired, in batches of a transaction each: after an interruption the next
 * run goes on, and two at once do not meet. Returns how many ended.
 */
export async function expireMembers(db: Db): Promise<number> {
  let ended = 0;
  for (;;) {
    const batch = await inTransaction(db, async (tx) => {
      const { rows } = await sql<{ id: number }>`
        select id from members where expires_at <= ${today()} order by id limit ${BATCH}
        for update skip locked`.execute(tx);
      await expire(
        tx,
        rows.map((row) => row.id),
      );
      return rows.length;
    });
    ended += batch;
    if (batch < BATCH) return ended;
  }
}
