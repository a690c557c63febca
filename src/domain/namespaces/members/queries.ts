/** Statements over members, access requests and invitations of one source. */
import { type RawBuilder, type SelectQueryBuilder, sql } from 'kysely';
import type { Actor, Caller } from '../../../kernel/actor.ts';
import { GUEST, MINIMAL, OWNER } from '../../../kernel/policy/roles.ts';
import { userBasicJson } from '../../../kernel/users/queries.ts';
import { type UserBasicRow, userBasicColumns } from '../../../kernel/users/records.ts';
import { now } from '../../../platform/clock.ts';
import type { Db } from '../../../platform/db/database.ts';
import type { Tables } from '../../../platform/db/rows.ts';
import { containing } from '../../../platform/db/search.ts';
import { type Page, type PageRequest, selectPage } from '../../../platform/pagination/page.ts';
import type { MemberRoleRow } from '../member-roles/present.ts';
import { memberRoleJson } from '../member-roles/queries.ts';
import type { Candidate, Inherited } from './rules.ts';
import type { Source } from './source.ts';

/** The day as memberships count it. */
export const today = (): string => now().toISOString().slice(0, 10);

/**
 * `direct`: the source's own members. `all`: also those of groups above, and of groups that it or they are
 * shared with.
 */
export type Reach = 'direct' | 'all';

export type Membership = {
  user_id: number;
  access_level: number;
  expires_at: string | null;
  created_at: Date;
  created_by: UserBasicRow | null;
  /** The custom role that it has. */
  member_role: MemberRoleRow | null;
  /** One that awaits access gives none. */
  state: 'active' | 'awaiting';
};

const current = (alias: string): RawBuilder<boolean> =>
  sql`(${sql.ref(`${alias}.expires_at`)} is null or ${sql.ref(`${alias}.expires_at`)} > ${today()})`;

const ids = (list: readonly number[]): RawBuilder<unknown> => sql`any(${[...list]}::bigint[])`;

/**
 * Whether the caller may see the members of an invited group `g`: as a list of that group's members would
 * decide.
 */
function invitedGroupIsVisible(source: Source, caller: Caller): RawBuilder<boolean> {
  if (source.mayManage || caller?.admin || caller?.auditor) return sql`true`;
  if (!caller) return sql`g.visibility = 20`;
  return sql`(g.visibility >= ${caller.external ? 20 : 10} or exists (select from members v
    where v.user_id = ${caller.id} and v.namespace_id = any(g.ancestor_ids) and ${current('v')}))`;
}

/** A union of every membership that gives access or awaits it, several per user: `distance` 0 direct, 1 inherited, 2 by a share. */
function memberships(source: Source, caller: Caller, reach: Reach): RawBuilder<unknown> {
  const holder = source.holder
    ? sql`union all select ${source.holder.id}::bigint, ${OWNER}, null, ${source.holder.since}::timestamptz, null, 0, null, 'active'`
    : sql``;
  const direct = sql`
    select m.user_id, m.access_level, m.expires_at, m.created_at, m.created_by_id, 0 as distance, m.member_role_id, 'active' as state
    from members m where ${sql.ref(`m.${source.column}`)} = ${source.id} and ${current('m')} ${holder}
    union all
    select a.user_id, a.access_level, a.expires_at, a.created_at, a.created_by_id, 0, a.member_role_id, 'awaiting'
    from awaiting_members a where ${sql.ref(`a.${source.column}`)} = ${source.id} and ${current('a')}`;
  if (reach === 'direct') return direct;
  const invited = (link: RawBuilder<unknown>, group: string, where: RawBuilder<boolean>) => sql`
    union all
    select m.user_id, least(l.group_access, m.access_level), least(m.expires_at, l.expires_at),
      m.created_at, m.created_by_id, 2, null::bigint, 'active'
    from ${link} l join namespaces g on g.id = ${sql.ref(`l.${group}`)}
    join members m on m.namespace_id = any(g.ancestor_ids)
    where ${where} and ${current('l')} and ${current('m')} and m.access_level > ${MINIMAL}
      and ${invitedGroupIsVisible(source, caller)}`;
  const groupShares = invited(
    sql`group_group_links`,
    'shared_with_group_id',
    sql`l.shared_group_id = ${ids(source.groupIds)}`,
  );
  const projectShares =
    source.kind === 'group'
      ? sql``
      : invited(sql`project_group_links`, 'group_id', sql`l.project_id = ${source.id}`);
  // Minimal access is not inherited.
  return sql`${direct}
    union all
    select m.user_id, m.access_level, m.expires_at, m.created_at, m.created_by_id, 1, m.member_role_id, 'active'
    from members m where m.namespace_id = ${ids(source.ancestorIds)} and ${current('m')}
      and m.access_level > ${MINIMAL}
    union all
    select a.user_id, a.access_level, a.expires_at, a.created_at, a.created_by_id, 1, a.member_role_id, 'awaiting'
    from awaiting_members a where a.namespace_id = ${ids(source.ancestorIds)} and ${current('a')}
      and a.access_level > ${MINIMAL}
    ${groupShares} ${projectShares}`;
}

const memberUserColumns = [...userBasicColumns, 'users.kind', 'users.enterprise_group_id'] as const;

export type MemberUser = Awaited<ReturnType<typeof selectUsers>>[number];

type UserQuery = SelectQueryBuilder<Tables, 'users', MemberUser>;

type MemberFilters = {
  query?: string;
  user_ids?: number[];
  skip_users?: number[];
  state?: 'awaiting' | 'active';
};

/** One page of the users who are members, by ascending user id: the order is ours, the public API names none. */
export function listMemberUsers(
  db: Db,
  source: Source,
  caller: Caller,
  reach: Reach,
  filters: MemberFilters,
  page: PageRequest,
): Promise<Page<MemberUser>> {
  let query: UserQuery = db
    .selectFrom('users')
    .select(memberUserColumns)
    .where('users.deletion', 'is', null)
    .where(
      sql<boolean>`users.id in (select x.user_id from (${memberships(source, caller, reach)}) x
        where ${filters.state ?? null}::text is null or x.state = ${filters.state ?? null}::text)`,
    );
  if (filters.query !== undefined && filters.query !== '') {
    const pattern = containing(filters.query);
    query = query.where((eb) =>
      eb.or([eb('users.name', 'ilike', pattern), eb('users.username', 'ilike', pattern)]),
    );
  }
  if (filters.user_ids) query = query.where(sql<boolean>`users.id = ${ids(filters.user_ids)}`);
  if (filters.skip_users) query = query.where(sql<boolean>`not users.id = ${ids(filters.skip_users)}`);
  return selectPage(db, query, page, { by: 'id', sort: 'asc' }, { id: 'users.id' });
}

/** For each of the users the membership with the highest level, between equals the nearest, and who made it. */
export async function selectMemberships(
  db: Db,
  source: Source,
  caller: Caller,
  reach: Reach,
  userIds: readonly number[],
): Promise<Map<number, Membership>> {
  if (userIds.length === 0) return new Map();
  const { rows } = await sql<Membership>`
    ${bestMemberships(source, caller, reach, userIds)}`.execute(db);
  return new Map(rows.map((row) => [row.user_id, row]));
}

const bestMemberships = (
  source: Source,
  caller: Caller,
  reach: Reach,
  userIds: readonly number[],
): RawBuilder<unknown> => sql`
  select best.*, (select ${sql.raw(userBasicJson('c.id'))} from users c
    where c.id = best.created_by_id and c.deletion is null) as created_by,
    ${memberRoleJson(sql`best.member_role_id`)} as member_role
  from (select distinct on (x.user_id) x.user_id, x.access_level, x.expires_at, x.created_at, x.created_by_id, x.member_role_id, x.state
    from (${memberships(source, caller, reach)}) x where x.user_id = ${ids(userIds)}
    order by x.user_id, x.state, x.access_level desc, x.distance, x.expires_at desc nulls first, x.created_at,
      x.created_by_id) best`;

/** One user with the membership of selectMemberships(). */
export async function selectMember(
  db: Db,
  source: Source,
  caller: Caller,
  reach: Reach,
  userId: number,
): Promise<(MemberUser & Membership) | undefined> {
  const { rows } = await sql<MemberUser & Membership>`
    select ${sql.raw(memberUserColumns.join(', '))}, m.user_id, m.access_level, m.expires_at, m.created_at, m.created_by, m.member_role, m.state
    from (${bestMemberships(source, caller, reach, [userId])}) m
    join users on users.id = m.user_id and users.deletion is null`.execute(db);
  return rows[0];
}

/** The users among these ids, without those who are being deleted. */
export const selectUsers = (db: Db, userIds: readonly number[]) =>
  db
    .selectFrom('users')
    .select(memberUserColumns)
    .where('users.deletion', 'is', null)
    .where(sql<boolean>`users.id = ${ids(userIds)}`)
    .execute();

/** The Inherited of a user, whose id is a column; null without any. */
export const inheritedBy = (source: Pick<Source, 'ancestorIds'>, user: string) =>
  sql<Inherited | null>`(
    select jsonb_build_object('access_level', m.access_level, 'group_name', n.name)
    from members m join namespaces n on n.id = m.namespace_id
    where m.namespace_id = ${ids(source.ancestorIds)} and m.user_id = ${sql.ref(user)} and ${current('m')}
      and m.access_level > ${MINIMAL}
    order by m.access_level desc, m.namespace_id desc limit 1)`;

/** Whether a group above keeps new members out of its projects, which is a rule of the paid tiers. */
export const isMembershipLocked = (source: Source, tier: string): RawBuilder<boolean> =>
  source.kind === 'group' || tier === 'free'
    ? sql`false`
    : sql`exists (select from namespaces where id = ${ids(source.groupIds)} and settings -> 'membership_lock' = 'true')`;

/** The same, by a statement of its own. */
export async function selectMembershipLock(db: Db, source: Source, tier: string): Promise<boolean> {
  const locked = isMembershipLocked(source, tier).as('locked');
  return (await db.selectNoFrom(locked).executeTakeFirstOrThrow()).locked;
}

export type Newcomer = MemberUser & { inherited: Inherited | null };

/** Users by their ids, names and mail addresses; one who is named twice comes twice, by address last. */
export type PeopleNamed = {
  ids?: readonly number[];
  names?: readonly string[];
  addresses?: readonly string[];
};

/**
 * The users who are named, with what they have inherited and the address that named them; and whether new members are
 * kept out. Names and addresses are compared without regard to case. An address names a user who has confirmed it, as
 * far as the caller may know: others than administrators know only public addresses.
 */
export async function selectNewcomers(
  db: Db,
  source: Source,
  caller: Pick<Actor, 'admin'>,
  tier: string,
  { ids: userIds = [], names = [], addresses = [] }: PeopleNamed,
): Promise<{ locked: boolean; users: (Newcomer & { address: string | null })[] }> {
  const lower = (texts: readonly string[]) => sql`any(${texts.map((each) => each.toLowerCase())}::text[])`;
  const { rows } = await sql<{ locked: boolean } & Newcomer & { address: string | null }>`
    select locks.locked, named.address, ${sql.raw(memberUserColumns.join(', '))},
      ${inheritedBy(source, 'users.id')} as inherited
    from (select ${isMembershipLocked(source, tier)} as locked) locks left join (
      (select unnest(${[...userIds]}::bigint[]) as user_id, null as address
      union select id, null from users where lower(username) collate "C" = ${lower(names)}
      union select e.user_id, lower(e.email) from emails e join users u on u.id = e.user_id
        where e.confirmed_at is not null and lower(e.email) collate "C" = ${lower(addresses)}
          and (${caller.admin} or (lower(u.public_email) = lower(e.email) and not u.private_profile))) named
      join users on users.id = named.user_id and users.deletion is null) on true
    order by users.id, named.address nulls first`.execute(db);
  return {
    locked: rows.some(({ locked }) => locked),
    users: rows.filter(({ id }) => id !== null),
  };
}

/** Memberships, or those that wait to be, of a group and all below it. */
export const belowGroup = (alias: string, groupId: number): RawBuilder<boolean> => sql`(
  ${sql.ref(`${alias}.namespace_id`)} in (select id from namespaces where ancestor_ids @> array[${groupId}]::bigint[])
  or ${sql.ref(`${alias}.project_id`)} in (select p.id from projects p
    where p.namespace_id in (select id from namespaces where ancestor_ids @> array[${groupId}]::bigint[])))`;

/** One page of memberships below the group that wait for access, the oldest first. */
export const selectPending = (db: Db, source: Source, page: PageRequest) =>
  selectPage(
    db,
    db
      .selectFrom('awaiting_members')
      .innerJoin('users', 'users.id', 'awaiting_members.user_id')
      .select(userBasicColumns)
      .select('awaiting_members.id as member_id')
      .where('users.deletion', 'is', null)
      .where(belowGroup('awaiting_members', source.id)),
    page,
    { by: 'id', sort: 'asc' },
    { id: 'awaiting_members.id' },
  );

/** The user's own membership, locked for a change, or undefined. */
export async function lockMember(tx: Db, source: Source, userId: number) {
  return tx
    .selectFrom('members')
    .innerJoin('users', 'users.id', 'members.user_id')
    .select([
      'members.id',
      'members.user_id',
      'members.access_level',
      'members.expires_at',
      'members.member_role_id',
      'members.created_at',
      'members.updated_at',
      'users.name as user_name',
      'users.kind as user_kind',
    ])
    .select(inheritedBy(source, 'members.user_id').as('inherited'))
    .where(source.column, '=', source.id)
    .where('members.user_id', '=', userId)
    .where(current('members'))
    .forUpdate('members')
    .executeTakeFirst();
}

/** The same of one who waits for access. */
export const lockAwaiting = (tx: Db, source: Source, userId: number) =>
  tx
    .selectFrom('awaiting_members')
    .innerJoin('users', 'users.id', 'awaiting_members.user_id')
    .select([
      'awaiting_members.id',
      'awaiting_members.user_id',
      'awaiting_members.access_level',
      'awaiting_members.expires_at',
      'awaiting_members.created_at',
      'awaiting_members.updated_at',
      'users.name as user_name',
      'users.kind as user_kind',
    ])
    .where(source.column, '=', source.id)
    .where('awaiting_members.user_id', '=', userId)
    .forUpdate('awaiting_members')
    .executeTakeFirst();

/** Own members of a project in the order of their users, after one of them, to be copied elsewhere. */
export async function listCandidates(
  db: Db,
  source: Source,
  projectId: number,
  afterUserId: number,
  limit: number,
): Promise<(Candidate & { name: string; username: string; expires_at: string | null })[]> {
  return db
    .selectFrom('members')
    .innerJoin('users', 'users.id', 'members.user_id')
    .select([
      'users.id',
      'users.name',
      'users.username',
      'users.kind',
      'members.access_level',
      'members.expires_at',
    ])
    .select(inheritedBy(source, 'users.id').as('inherited'))
    .where('members.project_id', '=', projectId)
    .where('members.user_id', '>', afterUserId)
    .where('users.kind', 'in', ['human', 'service_account'])
    .where('users.deletion', 'is', null)
    .where(current('members'))
    .orderBy('members.user_id')
    .limit(limit)
    .execute();
}

/** Whether the user's role here comes from a membership of the source itself or of a group above. */
export async function isMember(db: Db, source: Source, userId: number): Promise<boolean> {
  const { rows } = await sql`
    select from members m where m.user_id = ${userId} and ${current('m')}
      and (${sql.ref(`m.${source.column}`)} = ${source.id}
        or m.namespace_id = ${ids(source.ancestorIds)} and m.access_level > ${MINIMAL})
    limit 1`.execute(db);
  return rows.length > 0 || source.holder?.id === userId;
}

/** The users who take a paid seat: people, and under Ultimate only those with more than a guest's role in some place, or a custom one. */
export async function selectSeated(db: Db, tier: string, users: readonly MemberUser[]): Promise<Set<number>> {
  const people = users
    .filter((user) => user.kind === 'human' && user.state === 'active')
    .map((user) => user.id);
  if (tier !== 'ultimate') return new Set(people);
  const { rows } = await sql<{ user_id: number }>`
    select distinct user_id from members where user_id = any(${people}::bigint[])
      and (access_level > ${GUEST} or member_role_id is not null)
  `.execute(db);
  return new Set(rows.map((row) => row.user_id));
}
