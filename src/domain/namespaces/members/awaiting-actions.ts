/**
 * Memberships that give no access until an owner of the top-level group lets them: those of a user in its hierarchy leave the table of
 * members, and come back as they were. What is in that other table no statement about access reads.
 */
import { type RawBuilder, sql } from 'kysely';
import { announce } from '../../../kernel/activity/announce-actions.ts';
import type { Actor } from '../../../kernel/actor.ts';
import { now } from '../../../platform/clock.ts';
import { ahead, type Db, inTransaction } from '../../../platform/db/database.ts';
import { forbidden, notFound } from '../../../platform/failure.ts';
import { lockBelow } from './actions.ts';
import { belowGroup, today } from './queries.ts';
import type { Source } from './source.ts';

const columns = sql.raw(
  'id, user_id, project_id, namespace_id, access_level, expires_at, member_role_id, created_by_id, created_at',
);

const audit = (
  tx: Db,
  actor: Actor,
  source: Source,
  change: { from: string; to: string },
  user: { id: number; name: string } | undefined,
  count: number,
): Promise<void> =>
  announce(tx, {
    author: actor,
    audit: {
      entity: source.entity,
      event: 'member_updated',
      details: {
        change: 'state',
        ...change,
        memberships: count,
        ...(user && { target_id: user.id, target_type: 'User', target_details: user.name }),
      },
    },
  });

const selectUser = async (tx: Db, id: number) => {
  const user = await tx
    .selectFrom('users')
    .select(['id', 'name'])
    .where('id', '=', id)
    .where('deletion', 'is', null)
    .executeTakeFirst();
  if (!user) throw notFound('User');
  return user;
};

/** Those of a user, or of all, in the hierarchy of a group. */
const inHierarchy = (alias: string, groupId: number, userId?: number): RawBuilder<unknown> => sql`
  ${belowGroup(alias, groupId)} ${userId === undefined ? sql`` : sql`and ${sql.ref(`${alias}.user_id`)} = ${userId}`}`;

/** Takes the access of a user in the hierarchy; nothing where the user awaits it already. 403 above the caller, and for the last owner. */
export const suspendMember = (db: Db, source: Source, actor: Actor, userId: number): Promise<void> =>
  inTransaction(db, async (tx) => {
    const user = await lockBelow(tx, source, userId);
    if (!user) {
      if (await isAwaiting(tx, source, userId)) return;
      throw notFound();
    }
    await sql`
      with gone as (delete from members m where ${inHierarchy('m', source.id, userId)} returning m.*)
      insert into awaiting_members (${columns}, updated_at) select ${columns}, ${now()} from gone
      on conflict do nothing`.execute(ahead(tx));
    const target = { id: userId, name: user.name };
    await audit(tx, actor, source, { from: 'active', to: 'awaiting' }, target, user.count);
  });

const isAwaiting = async (tx: Db, source: Source, userId: number): Promise<boolean> => {
  const { rows } = await sql`
    select from awaiting_members a where ${inHierarchy('a', source.id, userId)} limit 1`.execute(tx);
  return rows.length > 0;
};

/** Brings memberships back that have not expired meanwhile, up to the caller's own level; returns their number. */
async function bringBack(tx: Db, source: Source, userId?: number): Promise<number> {
  const { rows } = await sql<{ count: number }>`
    with gone as (delete from awaiting_members a
      where ${inHierarchy('a', source.id, userId)} and a.access_level <= ${source.role} returning a.*),
    back as (
      insert into members (${columns}, updated_at) overriding system value
      select ${columns}, ${now()} from gone where expires_at is null or expires_at > ${today()}::date
      on conflict do nothing returning id)
    select (select count(*)::integer from gone) as count`.execute(tx);
  return rows[0]?.count ?? 0;
}

/** Gives a user the access back; nothing for one who has it. 404 for one who is no member, 403 above the caller. */
export const activateMember = (db: Db, source: Source, actor: Actor, userId: number): Promise<void> =>
  inTransaction(db, async (tx) => {
    const user = await selectUser(tx, userId);
    const count = await bringBack(tx, source, userId);
    if (count > 0) return audit(tx, actor, source, { from: 'awaiting', to: 'active' }, user, count);
    if (await isAwaiting(tx, source, userId))
      throw forbidden('the member has a higher access level than you');
    const { rows } =
      await sql`select from members m where ${inHierarchy('m', source.id, userId)} limit 1`.execute(tx);
    if (rows.length === 0) throw notFound();
  });

/** The same by the id of one of the memberships that wait; 404 without it. */
export async function approveMember(db: Db, source: Source, actor: Actor, memberId: number): Promise<void> {
  const { rows } = await sql<{ user_id: number }>`
    select a.user_id from awaiting_members a where a.id = ${memberId} and ${inHierarchy('a', source.id)}`.execute(
    db,
  );
  const [row] = rows;
  if (!row) throw notFound();
  await activateMember(db, source, actor, row.user_id);
}

/** The same for everybody who waits in the hierarchy. */
export const approveAll = (db: Db, source: Source, actor: Actor): Promise<void> =>
  inTransaction(db, async (tx) => {
    const count = await bringBack(tx, source);
    if (count > 0) await audit(tx, actor, source, { from: 'awaiting', to: 'active' }, undefined, count);
  });
