/** What becomes of invitations by mail when an account proves to have the address. */
import { sql } from 'kysely';
import { now } from '../../platform/clock.ts';
import type { Db } from '../../platform/db/database.ts';
import { joinMembers, placeAt } from './joining.ts';

type Waiting = {
  id: number;
  project_id: number | null;
  namespace_id: number;
  access_level: number;
  expires_at: string | null;
  created_by_id: number | null;
  full_path: string;
};

const BATCH = 100;

const selectWaiting = (tx: Db, email: string) =>
  sql<Waiting>`
    select i.id, i.project_id, n.id as namespace_id, i.access_level, i.expires_at, i.created_by_id,
      concat_ws('/', n.full_path, p.path) as full_path
    from invitations i
    left join projects p on p.id = i.project_id
    join namespaces n on n.id = coalesce(i.namespace_id, p.namespace_id)
    where lower(i.email) collate "C" = ${email.toLowerCase()}
    order by i.id limit ${BATCH} for update of i`.execute(tx);

/**
 * Turns every invitation of the address into a membership of the user, in the transaction that confirms the address for
 * the account. Call it for confirmed addresses only: the address is all that an invitation knows of a person. Those that
 * have lapsed, or whose place the user is a member of already, are only removed.
 */
export async function acceptInvitations(tx: Db, userId: number, email: string): Promise<void> {
  const user = await tx
    .selectFrom('users')
    .select(['id', 'username', 'name'])
    .where('id', '=', userId)
    .executeTakeFirstOrThrow();
  const today = now().toISOString().slice(0, 10);
  // Each round removes what it read, so the rounds end.
  for (;;) {
    const { rows } = await selectWaiting(tx, email);
    if (rows.length === 0) return;
    const ids = rows.map((row) => row.id);
    await tx.deleteFrom('invitations').where('id', 'in', ids).execute();
    for (const row of rows) {
      const { access_level, expires_at, created_by_id } = row;
      if (expires_at !== null && expires_at <= today) continue;
      const newcomer = { user_id: user.id, name: user.name, access_level, expires_at, created_by_id };
      await joinMembers(tx, placeAt(row), user, [newcomer]);
    }
  }
}
