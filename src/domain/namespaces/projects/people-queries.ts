/** Users and groups around a project. */
import { type RawBuilder, sql } from 'kysely';
import type { AuthorizedProject } from '../../../kernel/access/find.ts';
import { listGroups } from '../../../kernel/access/group-list-queries.ts';
import type { Caller } from '../../../kernel/actor.ts';
import { userBasicColumns } from '../../../kernel/users/records.ts';
import { now } from '../../../platform/clock.ts';
import type { Db } from '../../../platform/db/database.ts';
import { containing } from '../../../platform/db/search.ts';
import { type PageRequest, selectPage } from '../../../platform/pagination/page.ts';

const today = (): string => now().toISOString().slice(0, 10);

const byId = { by: 'id', sort: 'asc' } as const;

/** The condition that a user's name has the text in it. */
const named = (search: string | undefined) =>
  search
    ? sql<boolean>`(users.name ilike ${containing(search)} or users.username ilike ${containing(search)})`
    : sql<boolean>`true`;

type UserFilters = { search?: string; skip_users?: readonly number[] };

/** Active users who are members, inherited ones too, or own the project. */
export function selectProjectUsers(
  db: Db,
  { id, row }: AuthorizedProject,
  filters: UserFilters,
  page: PageRequest,
) {
  const query = db
    .selectFrom('users')
    .select(userBasicColumns)
    .where('users.state', '=', 'active')
    .where(
      sql<boolean>`(users.id = ${row.owner?.id ?? null} or exists (
        select from members m where m.user_id = users.id
        and (m.project_id = ${id} or m.namespace_id = any(${row.ancestor_ids}::bigint[]))
        and (m.expires_at is null or m.expires_at > ${today()}::date)))`,
    )
    .where(named(filters.search))
    .where(sql<boolean>`users.id <> all(${[...(filters.skip_users ?? [])]}::bigint[])`);
  return selectPage(db, query, page, byId, { id: 'users.id' });
}

/** Users who starred the project, but for those with private profiles. */
export function selectStarrers(
  db: Db,
  project: AuthorizedProject,
  search: string | undefined,
  page: PageRequest,
) {
  const query = db
    .selectFrom('users')
    .innerJoin('stars', 'stars.user_id', 'users.id')
    .select([...userBasicColumns, 'stars.starred_at'])
    .where('stars.project_id', '=', project.id)
    .where('users.private_profile', '=', false)
    .where(named(search));
  return selectPage(db, query, page, byId, { id: 'users.id' });
}

type Around = {
  /** Over `namespaces n`. */
  where: RawBuilder<unknown>;
  search: string | undefined;
  skip?: readonly number[] | undefined;
  /** The caller's least role; 0 for all that they see. */
  leastLevel: number;
};

/** Groups that the caller sees and that are related to a project, by name. */
export function selectGroupsAround(db: Db, caller: Caller, page: PageRequest, around: Around) {
  const pattern = containing(around.search ?? '');
  const where = sql`${around.where} and (n.name ilike ${pattern} or n.full_path ilike ${pattern})
    and not n.id = any(${[...(around.skip ?? [])]}::bigint[])`;
  const scope = { all: true, leastLevel: caller?.admin ? 0 : around.leastLevel };
  return listGroups(db, { caller, scope, where, order: { by: 'name', sort: 'asc' } }, page);
}

/** The groups above the project. */
export const isAbove = ({ row }: AuthorizedProject): RawBuilder<unknown> =>
  sql`n.id = any(${row.ancestor_ids}::bigint[])`;

/** The groups that the project is shared with, with at least the level. */
export const isInvited = ({ id }: AuthorizedProject, level = 0): RawBuilder<unknown> =>
  sql`exists (select from project_group_links l
    where l.project_id = ${id} and l.group_id = n.id and l.group_access >= ${level})`;

/** The groups that a group above the project is shared with. */
export const isInvitedAbove = ({ row }: AuthorizedProject): RawBuilder<unknown> =>
  sql`exists (select from group_group_links l
    where l.shared_group_id = any(${row.ancestor_ids}::bigint[]) and l.shared_with_group_id = n.id)`;

/** All but the project's own. */
export const isElsewhere = ({ row }: AuthorizedProject): RawBuilder<unknown> =>
  sql`n.id <> ${row.namespace_id}`;
