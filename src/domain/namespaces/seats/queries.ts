/** Who takes a seat below a top-level group: counted by the group's memberships and shares, each of which is read once. */
import { type RawBuilder, type Selectable, sql } from 'kysely';
import { GUEST, MINIMAL, OWNER } from '../../../kernel/policy/roles.ts';
import { userBasicColumns } from '../../../kernel/users/records.ts';
import { now } from '../../../platform/clock.ts';
import type { Db } from '../../../platform/db/database.ts';
import type { UsersTable } from '../../../platform/db/rows.ts';
import { containing } from '../../../platform/db/search.ts';
import { type Page, type PageRequest, selectPage } from '../../../platform/pagination/page.ts';
import { membershipTypes, type SeatSort } from './schema.ts';

const current = (alias: string): RawBuilder<boolean> =>
  sql`(${sql.ref(`${alias}.expires_at`)} is null or ${sql.ref(`${alias}.expires_at`)} > ${now().toISOString().slice(0, 10)}::date)`;

const below = (groupId: number): RawBuilder<unknown> =>
  sql`(select id from namespaces where ancestor_ids @> array[${groupId}]::bigint[])`;

/** Direct memberships of the group, its subgroups and projects: what they are of, and how they are called. */
const direct = (groupId: number): RawBuilder<unknown> => sql`
  select m.id, m.user_id, m.access_level, m.member_role_id, m.created_at, m.expires_at, 0 as type, m.namespace_id as source_id,
    n.full_name as source_name, 'groups/' || n.full_path || '/-/group_members' as source_path
  from members m join namespaces n on n.id = m.namespace_id where n.id in ${below(groupId)} and ${current('m')}
  union all
  select m.id, m.user_id, m.access_level, m.member_role_id, m.created_at, m.expires_at, 1, m.project_id,
    n.full_name || ' / ' || p.name, n.full_path || '/' || p.path || '/-/project_members'
  from members m join projects p on p.id = m.project_id join namespaces n on n.id = p.namespace_id
  where p.namespace_id in ${below(groupId)} and not p.deleting and ${current('m')}`;

/** Those of groups with which one of them is shared. */
const invited = (groupId: number): RawBuilder<unknown> => sql`
  select m.id, m.user_id, least(l.group_access, m.access_level) as access_level, null::bigint as member_role_id, m.created_at,
    least(m.expires_at, l.expires_at) as expires_at, 2 as type, g.id as source_id, g.full_name as source_name,
    'groups/' || g.full_path || '/-/group_members' as source_path
  from group_group_links l join namespaces g on g.id = l.shared_with_group_id
  join members m on m.namespace_id = any(g.ancestor_ids)
  where l.shared_group_id in ${below(groupId)} and ${current('l')} and ${current('m')}
  union all
  select m.id, m.user_id, least(l.group_access, m.access_level), null, m.created_at, least(m.expires_at, l.expires_at), 3, g.id,
    g.full_name, 'groups/' || g.full_path || '/-/group_members'
  from project_group_links l join projects p on p.id = l.project_id join namespaces g on g.id = l.group_id
  join members m on m.namespace_id = any(g.ancestor_ids)
  where p.namespace_id in ${below(groupId)} and ${current('l')} and ${current('m')}`;

const all = (groupId: number): RawBuilder<unknown> => sql`${direct(groupId)} union all ${invited(groupId)}`;

/** A membership takes a seat: Minimal Access takes none, under Ultimate neither does a Guest without a custom role. */
const takesSeat = (tier: string): RawBuilder<boolean> =>
  tier === 'ultimate'
    ? sql`(x.access_level > ${sql.lit(GUEST)} or x.member_role_id is not null)`
    : sql`x.access_level > ${sql.lit(MINIMAL)}`;

/** Users with the highest level, and the nearest kind of membership. */
const seats = (groupId: number, tier: string) =>
  sql<{ user_id: number; access_level: number; type: number; joined_at: Date; owns: boolean }>`(
  select x.user_id, max(x.access_level)::integer as access_level, min(x.type)::integer as type, min(x.created_at) as joined_at,
    coalesce(bool_or(x.type = 0 and x.source_id = ${groupId} and x.access_level = ${sql.lit(OWNER)}), false) as owns
  from (${all(groupId)}) x where ${takesSeat(tier)} group by x.user_id)`.as('seats');

/** Each looked up by the id, whatever the database expects: comparing all with all takes seconds for thousands. */
const person = sql<Selectable<UsersTable>>`(select u.* from users u where u.id = seats.user_id
  and u.kind = 'human' and u.state = 'active' and u.deletion is null offset 0)`.as('users');

const billable = (db: Db, groupId: number, tier: string) =>
  db
    .selectFrom(seats(groupId, tier))
    .innerJoinLateral(person, (join) => join.onTrue())
    .select(userBasicColumns)
    .select(['users.last_activity_on', 'users.current_sign_in_at', 'users.created_at'])
    .select(['seats.access_level', 'seats.type', 'seats.joined_at', 'seats.owns']);

export type BillableRow = Awaited<ReturnType<ReturnType<typeof billable>['executeTakeFirstOrThrow']>>;

const orders: Record<SeatSort, { by: string; sort: 'asc' | 'desc' }> = {
  access_level_asc: { by: 'access_level', sort: 'asc' },
  access_level_desc: { by: 'access_level', sort: 'desc' },
  last_joined: { by: 'joined', sort: 'desc' },
  oldest_joined: { by: 'joined', sort: 'asc' },
  name_asc: { by: 'name', sort: 'asc' },
  name_desc: { by: 'name', sort: 'desc' },
  oldest_sign_in: { by: 'sign_in', sort: 'asc' },
  recent_sign_in: { by: 'sign_in', sort: 'desc' },
  last_activity_on_asc: { by: 'activity', sort: 'asc' },
  last_activity_on_desc: { by: 'activity', sort: 'desc' },
};
const orderColumns = {
  id: 'users.id',
  access_level: 'seats.access_level',
  joined: 'seats.joined_at',
  name: 'lower(users.name) collate "C"',
  sign_in: `coalesce(users.current_sign_in_at, '-infinity')`,
  activity: `coalesce(users.last_activity_on, '-infinity')`,
};

/** One page of the users who take a seat, by their names unless told otherwise. */
export function selectBillable(
  db: Db,
  groupId: number,
  tier: string,
  { search, sort = 'name_asc' }: { search?: string; sort?: SeatSort },
  page: PageRequest,
): Promise<Page<BillableRow>> {
  let query = billable(db, groupId, tier);
  if (search) {
    const pattern = containing(search);
    query = query.where((eb) =>
      eb.or([eb('users.name', 'ilike', pattern), eb('users.username', 'ilike', pattern)]),
    );
  }
  // The builder's types know no statement beside the tables.
  return selectPage<'users', BillableRow>(db, query as never, page, orders[sort], orderColumns);
}

/** Whether one owner alone is left of the group's own. */
export async function hasOneOwner(db: Db, groupId: number): Promise<boolean> {
  const { rows } = await sql`
    select from members m join users u on u.id = m.user_id
    where m.namespace_id = ${groupId} and m.access_level = ${OWNER} and ${current('m')} and m.expires_at is null
      and u.kind = 'human' and u.state = 'active' and u.deletion is null limit 2`.execute(db);
  return rows.length === 1;
}

export const isBillable = async (db: Db, groupId: number, tier: string, userId: number): Promise<boolean> =>
  (await billable(db, groupId, tier).where('users.id', '=', userId).executeTakeFirst()) !== undefined;

export type MembershipRow = {
  id: number;
  source_id: number;
  source_name: string;
  source_path: string;
  access_level: number;
  created_at: Date;
  expires_at: string | null;
};

/** One page of the user's memberships below the group, own ones or those by shares. */
export function selectBillableMemberships(
  db: Db,
  groupId: number,
  userId: number,
  kind: 'direct' | 'indirect',
  page: PageRequest,
): Promise<Page<MembershipRow>> {
  // One membership counts in several groups with which something is shared: the highest level is shown.
  const rows =
    kind === 'direct'
      ? direct(groupId)
      : sql`select distinct on (i.id) i.* from (${invited(groupId)}) i order by i.id, i.access_level desc, i.source_id`;
  const query = db
    .selectFrom(sql<MembershipRow & { user_id: number }>`(${rows})`.as('x'))
    .select([
      'x.id',
      'x.source_id',
      'x.source_name',
      'x.source_path',
      'x.access_level',
      'x.created_at',
      'x.expires_at',
    ])
    .where('x.user_id', '=', userId);
  return selectPage(db, query as never, page, { by: 'id', sort: 'asc' }, { id: 'x.id' });
}

export const membershipType = (type: number): (typeof membershipTypes)[number] =>
  membershipTypes[type] ?? 'group_member';
