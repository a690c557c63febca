/** Reads protected environments of a project or group, and who may be named in them. */
import { type RawBuilder, type Selectable, sql } from 'kysely';
import { isProject, parentColumns, type ResourceParent } from '../../../kernel/access/resource-parents.ts';
import { now } from '../../../platform/clock.ts';
import type { Db } from '../../../platform/db/database.ts';
import type { ProtectedEnvironmentsTable } from '../../../platform/db/rows.ts';
import { type Page, type PageRequest, selectPage } from '../../../platform/pagination/page.ts';
import { describeGrant, selectReaching } from '../../repositories/index.ts';
import type { ApprovedProtection } from './approval-rules.ts';
import type { StoredAccess } from './rules.ts';

/** An entry with the name of its user or group. */
export type AccessRow = StoredAccess & { title: string | null };
export type ProtectedRow = Selectable<ProtectedEnvironmentsTable> & {
  /** Who deploys. */
  entries: AccessRow[];
  /** Who approves. */
  rules: AccessRow[];
};

const entriesOf = (environment: RawBuilder<unknown>, kind: 'deploy' | 'approve') =>
  sql<AccessRow[]>`(
    select coalesce(jsonb_agg(jsonb_build_object('id', a.id, 'access_level', a.access_level, 'user_id', a.user_id,
      'group_id', a.group_id, 'group_inheritance_type', a.group_inheritance_type, 'required_approvals', a.required_approvals,
      'title', coalesce(u.name, g.name))
      order by a.id), '[]')
    from protected_environment_access a left join users u on u.id = a.user_id left join namespaces g on g.id = a.group_id
    where a.protected_environment_id = ${environment} and (a.required_approvals is null) = ${sql.lit(kind === 'deploy')})`;

const protectedOf = (db: Db, parent: ResourceParent) => {
  const [[column, id] = ['project_id', 0]] = Object.entries(parentColumns(parent));
  return db
    .selectFrom('protected_environments')
    .selectAll()
    .select(entriesOf(sql`protected_environments.id`, 'deploy').as('entries'))
    .select(entriesOf(sql`protected_environments.id`, 'approve').as('rules'))
    .where(sql.ref(column), '=', id);
};

/** One page, the oldest first. */
export const selectProtected = (
  db: Db,
  parent: ResourceParent,
  page: PageRequest,
): Promise<Page<ProtectedRow>> =>
  selectPage(db, protectedOf(db, parent), page, { by: 'id', sort: 'asc' }, { id: 'id' });

export const selectOne = (db: Db, parent: ResourceParent, name: string): Promise<ProtectedRow | undefined> =>
  protectedOf(db, parent).where('name', '=', name).executeTakeFirst();

/** The protections of the project's environments, and those of tiers by the groups around it. */
export async function selectProtections(
  db: Db,
  project: { id: number; row: { ancestor_ids: number[] } },
): Promise<ApprovedProtection[]> {
  const { rows } = await sql<
    Pick<ProtectedRow, 'project_id' | 'name' | 'required_approval_count' | 'entries' | 'rules'>
  >`
    select p.project_id, p.name, p.required_approval_count, ${entriesOf(sql`p.id`, 'deploy')} as entries,
      ${entriesOf(sql`p.id`, 'approve')} as rules
    from protected_environments p
    where p.project_id = ${project.id} or p.namespace_id = any(${project.row.ancestor_ids}::bigint[])`.execute(
    db,
  );
  return rows.map((row) => ({
    ...row,
    rules: row.rules.map((rule) => ({ ...rule, title: describeGrant(rule) })),
  }));
}

/** Of these groups, those that have the user as a member, and whether they have themselves. */
export async function selectMemberships(
  db: Db,
  userId: number,
  groups: readonly number[],
): Promise<Map<number, { direct: boolean }>> {
  if (groups.length === 0) return new Map();
  const today = now().toISOString().slice(0, 10);
  const { rows } = await sql<{ id: number; direct: boolean }>`
    select n.id, bool_or(m.namespace_id = n.id) as direct from namespaces n join members m on m.namespace_id = any(n.ancestor_ids)
    where n.id = any(${[...groups]}::bigint[]) and m.user_id = ${userId}
      and (m.expires_at is null or m.expires_at > ${today}::date)
    group by n.id`.execute(db);
  return new Map(rows.map(({ id, direct }) => [id, { direct }]));
}

/** Whether the parent lets all of them in already: an entry gives no access, and tells of nobody who has none. */
export async function areKnown(
  db: Db,
  parent: ResourceParent,
  users: readonly number[],
  groups: readonly number[],
): Promise<boolean> {
  if (users.length + groups.length === 0) return true;
  if (isProject(parent)) {
    const reaching = await selectReaching(db, parent.id, { users, groups, keys: [] });
    return (
      users.every((id) => reaching.has(`user_id ${id}`)) &&
      groups.every((id) => reaching.has(`group_id ${id}`))
    );
  }
  const { rows } = await sql<{ users: number; groups: number }>`
    select
      (select count(distinct m.user_id)::integer from members m
        where m.user_id = any(${[...users]}::bigint[]) and m.namespace_id = any(${parent.row.ancestor_ids}::bigint[])) as users,
      (select count(*)::integer from namespaces g where g.id = any(${[...groups]}::bigint[]) and g.kind = 'group'
        and (${parent.id} = any(g.ancestor_ids) or g.id = any(${parent.row.ancestor_ids}::bigint[]))) as groups`.execute(
    db,
  );
  return rows[0]?.users === new Set(users).size && rows[0].groups === new Set(groups).size;
}
