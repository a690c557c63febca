/** Memberships that have expired give no access at once; here their rows are deleted and announced. */
import { type RawBuilder, sql } from 'kysely';
import { memberFact, membershipSourceOf } from '../../../kernel/access/membership-actions.ts';
import { type Announcement, announceAll } from '../../../kernel/activity/announce-actions.ts';
import { type Db, inTransaction } from '../../../platform/db/database.ts';
import { today } from './queries.ts';
import type { Source } from './source.ts';

type Lapsed = Parameters<typeof memberFact>[2] & {
  user_name: string;
  project_id: number | null;
  namespace_id: number;
  full_path: string;
};

/** Deletes the memberships with the ids of a statement, and announces each as expired; returns their users. */
async function expire(tx: Db, memberIds: RawBuilder<unknown>): Promise<number[]> {
  const { rows } = await sql<Lapsed>`
    with gone as (delete from members where id = any(array(${memberIds})) returning *)
    select m.user_id, m.access_level, m.expires_at, m.created_at, m.updated_at, u.name as user_name, m.project_id,
      n.id as namespace_id,
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
        fact: memberFact('member_destroyed', membershipSourceOf(row), row),
      }),
    ),
  );
  return rows.map(({ user_id }) => user_id);
}

/** Ends the expired ones of these users' memberships of the source, so that they can join anew; returns their users. */
export async function removeLapsed(tx: Db, source: Source, userIds: readonly number[]): Promise<Set<number>> {
  if (userIds.length === 0) return new Set();
  const lapsed = sql`
    select id from members where ${sql.ref(source.column)} = ${source.id}
      and user_id = any(${[...userIds]}::bigint[]) and expires_at <= ${today()} for update`;
  return new Set(await expire(tx, lapsed));
}

const BATCH = 200;

/**
 * Ends every membership that has expired, in batches of a transaction each: after an interruption the next
 * run goes on, and two at once do not meet. Returns how many ended.
 */
export async function expireMembers(db: Db): Promise<number> {
  const lapsed = sql`
    select id from members where expires_at <= ${today()} order by id limit ${BATCH}
    for update skip locked`;
  let ended = 0;
  for (;;) {
    const batch = await inTransaction(db, (tx) => expire(tx, lapsed));
    ended += batch.length;
    if (batch.length < BATCH) return ended;
  }
}
