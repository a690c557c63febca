/** Statements over users: profiles with their counts, and lists. */
import { sql } from 'kysely';
import type { AuthorizedGroup } from '../../../kernel/access/find.ts';
import type { UserRow } from '../../../kernel/access/find-queries.ts';
import type { AuthorizedUser } from '../../../kernel/access/users.ts';
import type { Caller } from '../../../kernel/actor.ts';
import type { UserBasicRow } from '../../../kernel/users/records.ts';
import type { Db } from '../../../platform/db/database.ts';
import type { Sql } from '../../../platform/db/driver/sql.ts';
import { containing } from '../../../platform/db/search.ts';
import { type Page, type PageRequest, selectPage } from '../../../platform/pagination/page.ts';
import type { UserFilters } from './inputs.ts';

/** A user with the profile's counts. */
export type ProfileRow = UserRow & {
  followers: number;
  following: number;
  is_followed: boolean;
  namespace_id: number | null;
  personal_projects: number;
  identities: { provider: string; extern_uid: string }[];
  created_by: UserBasicRow | null;
};

// $1: the id or ids, $2: the viewer. Text, so that the driver prepares each once.
const profile = `
  select u.*, n.id as namespace_id,
    (select count(*)::integer from follows f where f.followee_id = u.id) as followers,
    (select count(*)::integer from follows f where f.follower_id = u.id) as following,
    exists (select from follows f where f.follower_id = $2 and f.followee_id = u.id) as is_followed,
    (select count(*)::integer from projects p where p.namespace_id = n.id and not p.deleting) as personal_projects,
    coalesce((select jsonb_agg(jsonb_build_object('provider', i.provider, 'extern_uid', i.extern_uid) order by i.id)
      from identities i where i.user_id = u.id), '[]') as identities,
    case when c.id is not null then jsonb_build_object('id', c.id, 'username', c.username, 'name', c.name,
      'state', c.state, 'avatar', c.avatar, 'public_email', c.public_email, 'locked', c.locked_at is not null,
      'email', c.email) end as created_by
  from users u left join namespaces n on n.owner_id = u.id left join users c on c.id = u.created_by_id
  where`;
// Separate: the statement over an array would be planned anew each time, at five times the cost of running
// it.
const profileOfOne = `${profile} u.id = $1`;
const profilesOfMany = `${profile} u.id = any($1::bigint[])`;

/** Profiles for `viewerId` (0 for anonymous), in one statement, in the order of `ids`. */
export async function selectProfiles(
  driver: Sql,
  ids: readonly number[],
  viewerId: number,
): Promise<ProfileRow[]> {
  if (ids.length === 0) return [];
  const [one] = ids;
  const rows =
    one !== undefined && ids.length === 1
      ? await driver.unsafe<ProfileRow[]>(profileOfOne, [one, viewerId], { prepare: true })
      : await driver.unsafe<ProfileRow[]>(profilesOfMany, [[...ids], viewerId], { prepare: true });
  const byId = new Map(rows.map((row) => [row.id, row]));
  return ids.flatMap((id) => byId.get(id) ?? []);
}

/** Short texts match whole names only: two letters would scan the whole table. */
function searchCondition(text: string, admin: boolean) {
  const whole = text.trim().toLowerCase();
  const address = admin
    ? sql<boolean>`exists (select from emails e where e.user_id = users.id and not e.held_elsewhere and lower(e.email) collate "C" = ${whole})`
    : sql<boolean>`lower(users.public_email) collate "C" = ${whole}`;
  if (whole.length < 3) {
    return sql<boolean>`(lower(users.username) collate "C" = ${whole} or users.name = ${text.trim()} or ${address})`;
  }
  const pattern = containing(whole);
  return sql<boolean>`(users.name ilike ${pattern} or users.username ilike ${pattern} or ${address})`;
}

function identityCondition(extern_uid: string, provider: string) {
  return sql<boolean>`exists (select from identities i where i.user_id = users.id
    and i.provider = ${provider} and i.extern_uid = ${extern_uid})`;
}

/** Filters on data that only administrators see; ignored for other callers (facts §10). */
function privilegedConditions(filters: UserFilters) {
  const { created_after, created_before, extern_uid, provider } = filters;
  return [
    ...(created_after === undefined ? [] : [sql<boolean>`users.created_at >= ${created_after}`]),
    ...(created_before === undefined ? [] : [sql<boolean>`users.created_at <= ${created_before}`]),
    ...(filters.pending_approval ? [sql<boolean>`users.state = 'blocked_pending_approval'`] : []),
    ...(filters.admins ? [sql<boolean>`users.admin`] : []),
    ...(filters.auditors ? [sql<boolean>`users.auditor`] : []),
    ...(filters.external ? [sql<boolean>`users.external`] : []),
    ...(filters.two_factor === 'enabled' ? [sql<boolean>`users.otp_enabled_at is not null`] : []),
    ...(filters.two_factor === 'disabled' ? [sql<boolean>`users.otp_enabled_at is null`] : []),
    ...(filters.without_projects
      ? [
          sql<boolean>`not exists (select from projects p join namespaces n on n.id = p.namespace_id
            where n.owner_id = users.id and not p.deleting)`,
        ]
      : []),
    ...(extern_uid !== undefined && provider !== undefined ? [identityCondition(extern_uid, provider)] : []),
    ...Object.entries(filters.custom_attributes ?? {}).map(
      ([key, value]) => sql<boolean>`exists (select from custom_attributes c where c.user_id = users.id
        and c.key = ${key} and c.value = ${value})`,
    ),
  ];
}

function conditions(filters: UserFilters, admin: boolean, signedIn = true) {
  const { username, public_email, search } = filters;
  const hidden = signedIn
    ? sql<boolean>`users.state not in ('banned', 'blocked_pending_approval')`
    : sql<boolean>`users.state = 'active' and users.kind = 'human'`;
  return [
    sql<boolean>`users.deletion is null`,
    ...(admin ? [] : [hidden]),
    ...(username === undefined
      ? []
      : [sql<boolean>`lower(users.username) collate "C" = ${username.toLowerCase()}`]),
    ...(public_email === undefined
      ? []
      : [sql<boolean>`lower(users.public_email) collate "C" = ${public_email.toLowerCase()}`]),
    ...(search === undefined || search.trim() === '' ? [] : [searchCondition(search, admin)]),
    ...(filters.active ? [sql<boolean>`users.state = 'active'`] : []),
    ...(filters.blocked ? [sql<boolean>`users.state = 'blocked'`] : []),
    ...(filters.humans ? [sql<boolean>`users.kind = 'human'`] : []),
    ...(filters.without_project_bots ? [sql<boolean>`users.kind not in ('project_bot', 'group_bot')`] : []),
    ...(filters.exclude_active ? [sql<boolean>`users.state <> 'active'`] : []),
    ...(filters.exclude_external ? [sql<boolean>`not users.external`] : []),
    ...(filters.exclude_humans ? [sql<boolean>`users.kind <> 'human'`] : []),
    ...(filters.exclude_internal ? [sql<boolean>`users.kind not in ('ghost', 'alert_bot')`] : []),
    ...(admin ? privilegedConditions(filters) : []),
  ];
}

/** A time in the column's precision, for cursors. */
const exactTime = (column: 'created_at' | 'updated_at') =>
  sql<string>`to_char(users.${sql.ref(column)} at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')`.as(
    column,
  );

const orderColumns = {
  id: 'users.id',
  name: 'users.name',
  username: 'users.username',
  created_at: 'users.created_at',
  updated_at: 'users.updated_at',
};

/** A page of users that the caller may list: ids, and the columns of order and cursor. */
export async function selectUserPage(
  db: Db,
  filters: UserFilters,
  caller: Caller,
  page: PageRequest,
): Promise<Page<{ id: number }>> {
  let query = db
    .selectFrom('users')
    .select(['users.id', 'users.name', 'users.username', exactTime('created_at'), exactTime('updated_at')]);
  for (const condition of conditions(filters, caller?.admin ?? false, caller !== undefined)) {
    query = query.where(condition);
  }
  return selectPage(
    db,
    query,
    page,
    { by: filters.order_by ?? 'id', sort: filters.sort ?? 'desc' },
    orderColumns,
  );
}

/** A page of the group's enterprise users, newest first: their ids. */
export async function selectEnterprisePage(
  db: Db,
  group: AuthorizedGroup,
  filters: UserFilters,
  page: PageRequest,
): Promise<Page<{ id: number }>> {
  let query = db.selectFrom('users').select('users.id').where('users.enterprise_group_id', '=', group.id);
  // Owners see the same data of them as administrators.
  for (const condition of conditions(filters, true)) query = query.where(condition);
  return selectPage(db, query, page, { by: 'id', sort: 'desc' }, { id: 'users.id' });
}

/** A page of the user's direct memberships, without those of deleting projects and groups. */
export function selectMembershipPage(
  db: Db,
  user: AuthorizedUser,
  type: 'Project' | 'Namespace' | undefined,
  page: PageRequest,
) {
  let query = db
    .selectFrom('members')
    .leftJoin('projects', 'projects.id', 'members.project_id')
    .leftJoin('namespaces', 'namespaces.id', 'members.namespace_id')
    .select([
      'members.id',
      'members.access_level',
      sql<number>`coalesce(projects.id, namespaces.id)`.as('source_id'),
      sql<string>`coalesce(projects.name, namespaces.name)`.as('source_name'),
      sql<string>`case when projects.id is null then 'Namespace' else 'Project' end`.as('source_type'),
    ])
    .where('members.user_id', '=', user.id)
    .where(sql<boolean>`not coalesce(projects.deleting, namespaces.deleting)`);
  if (type === 'Project') query = query.where('members.project_id', 'is not', null);
  if (type === 'Namespace') query = query.where('members.namespace_id', 'is not', null);
  return selectPage(db, query, page, { by: 'id', sort: 'asc' }, { id: 'members.id' });
}

type AssociationsCount = Record<
  'groups_count' | 'projects_count' | 'issues_count' | 'merge_requests_count',
  number
>;

/** The numbers of the user's groups and projects, and of the issues and merge requests made. */
export async function selectAssociationsCount(db: Db, user: AuthorizedUser): Promise<AssociationsCount> {
  const { rows } = await sql<AssociationsCount>`
    select count(n.id)::integer as groups_count, count(p.id)::integer as projects_count,
      (select count(*)::integer from issues where author_id = ${user.id}) as issues_count,
      (select count(*)::integer from merge_requests where author_id = ${user.id}) as merge_requests_count
    from members m
    left join namespaces n on n.id = m.namespace_id and not n.deleting
    left join projects p on p.id = m.project_id and not p.deleting
    where m.user_id = ${user.id}`.execute(db);
  return rows[0] ?? { groups_count: 0, projects_count: 0, issues_count: 0, merge_requests_count: 0 };
}

/** A page of users' last activity, since a day. */
export function selectActivityPage(db: Db, from: string, page: PageRequest) {
  const query = db
    .selectFrom('users')
    .select(['users.id', 'users.username', sql<string>`users.last_activity_on`.as('last_activity_on')])
    .where('users.last_activity_on', '>=', from)
    .where('users.kind', '=', 'human')
    .where('users.deletion', 'is', null);
  const columns = { id: 'users.id', last_activity_on: 'users.last_activity_on' };
  return selectPage(db, query, page, { by: 'last_activity_on', sort: 'asc' }, columns);
}

export const emailsOf = (db: Db, userId: number) =>
  db
    .selectFrom('emails')
    .select(['emails.id', 'emails.email', 'emails.confirmed_at', 'emails.updated_at'])
    .where('emails.user_id', '=', userId);

/** The picture of the user who shows this mail address. */
export const selectAvatarByAddress = (db: Db, address: string) =>
  db
    .selectFrom('users')
    .select(['id', 'avatar'])
    .where(sql<boolean>`lower(public_email) collate "C" = ${address}`)
    .where('deletion', 'is', null)
    .executeTakeFirst();
