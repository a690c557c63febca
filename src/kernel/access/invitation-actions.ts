/** Invitations by mail: accepted when an account confirms the address, or by a user's decision. */
import { type RawBuilder, sql } from 'kysely';
import { now } from '../../platform/clock.ts';
import { ahead, type Db } from '../../platform/db/database.ts';
import { joinMembers, membershipSourceOf } from './membership-actions.ts';

type Waiting = {
  id: number;
  project_id: number | null;
  namespace_id: number;
  access_level: number;
  expires_at: string | null;
  created_by_id: number | null;
  member_role_id: number | null;
  full_path: string;
};

const BATCH = 100;

const selectWaiting = (db: Db, condition: RawBuilder<unknown>, locked: RawBuilder<unknown>) =>
  sql<Waiting>`
    select i.id, i.project_id, n.id as namespace_id, i.access_level, i.expires_at, i.created_by_id, i.member_role_id,
      concat_ws('/', n.full_path, p.path) as full_path
    from invitations i
    left join projects p on p.id = i.project_id
    join namespaces n on n.id = coalesce(i.namespace_id, p.namespace_id)
    where ${condition} order by i.id limit ${BATCH} ${locked}`.execute(db);
const lock = sql`for update of i`;

const today = (): string => now().toISOString().slice(0, 10);

/**
 * Turns every invitation of the address into a membership, in the transaction that confirms the address for
 * the account. Call it for confirmed addresses only: an invitation knows no more than the address. Expired
 * invitations, and those of members, are only removed.
 */
export async function acceptInvitations(tx: Db, userId: number, email: string): Promise<void> {
  const user = await tx
    .selectFrom('users')
    .select(['id', 'username', 'name'])
    .where('id', '=', userId)
    .executeTakeFirstOrThrow();
  // Each round removes the rows that it read, so the loop ends.
  for (;;) {
    const { rows } = await selectWaiting(tx, sql`lower(i.email) collate "C" = ${email.toLowerCase()}`, lock);
    if (rows.length === 0) return;
    await acceptRows(tx, user, rows, true);
  }
}

/** Removes the invitations, and adds the memberships where they are accepted and have not expired. */
async function acceptRows(
  tx: Db,
  user: { id: number; username: string; name: string },
  rows: readonly Waiting[],
  taken: boolean,
): Promise<void> {
  const ids = rows.map((row) => row.id);
  if (ids.length === 0) return;
  await ahead(tx).deleteFrom('invitations').where('id', 'in', ids).execute();
  for (const row of rows) {
    const { access_level, expires_at, created_by_id, member_role_id } = row;
    if (!taken || (expires_at !== null && expires_at <= today())) continue;
    const newcomer = {
      user_id: user.id,
      name: user.name,
      access_level,
      expires_at,
      created_by_id,
      member_role_id,
    };
    await joinMembers(tx, membershipSourceOf(row), user, [newcomer]);
  }
}

/** Invitations to a confirmed address of the user. */
const toUser = (userId: number) => sql`lower(i.email) collate "C" in (
  select lower(e.email) collate "C" from emails e where e.user_id = ${userId} and e.confirmed_at is not null)`;

/** Current invitations to any confirmed address of the user. */
export async function invitationsTo(db: Db, userId: number): Promise<Waiting[]> {
  const current = sql`(i.expires_at is null or i.expires_at > ${today()}::date)`;
  const { rows } = await selectWaiting(db, sql`${toUser(userId)} and ${current}`, sql``);
  return rows;
}

/** Accepts or declines an invitation; nothing happens where it is gone, or to another user. */
export async function decideInvitation(
  tx: Db,
  user: { id: number; username: string; name: string },
  id: number,
  taken: boolean,
): Promise<void> {
  const { rows } = await selectWaiting(tx, sql`i.id = ${id} and ${toUser(user.id)}`, lock);
  await acceptRows(tx, user, rows, taken);
}
