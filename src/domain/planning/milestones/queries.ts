/** Milestones: the lists of a project or group, and one to change. */
import { type RawBuilder, type SqlBool, sql } from 'kysely';
import type { AuthorizedProject } from '../../../kernel/access/find.ts';
import { groupsBelow } from '../../../kernel/access/resource-parent-queries.ts';
import { isProject, type ResourceParent } from '../../../kernel/access/resource-parents.ts';
import type { Caller } from '../../../kernel/actor.ts';
import type { Db } from '../../../platform/db/database.ts';
import { containing } from '../../../platform/db/search.ts';
import { type Page, type PageRequest, selectPage } from '../../../platform/pagination/page.ts';
import { ownMilestones } from './available-queries.ts';
import type { MilestoneRow, MilestoneWithPath } from './milestone-records.ts';
import type { ListInput } from './schema.ts';

/** The condition on milestones that a caller finds in the parent. */
function within(
  caller: Caller,
  parent: ResourceParent,
  scope: { ancestors: boolean; descendants: boolean },
): RawBuilder<SqlBool> {
  const parts = [ownMilestones(parent)];
  if (scope.ancestors) parts.push(sql`milestones.namespace_id = any(${parent.row.ancestor_ids}::bigint[])`);
  if (scope.descendants && !isProject(parent))
    parts.push(sql`milestones.namespace_id in ${groupsBelow(caller, parent.id)}`);
  return sql`(${sql.join(parts, sql` or `)})`;
}

/** Milestones without a due day come last; of one day the newest comes first. */
const byDueDate = "coalesce(milestones.due_date, 'infinity'::date) asc, -milestones.id";

/** One page, the next due first. */
export function selectMilestones(
  db: Db,
  caller: Caller,
  parent: ResourceParent,
  filters: ListInput,
  page: PageRequest,
): Promise<Page<MilestoneRow>> {
  const { state = 'all', iids, title, search, updated_before, updated_after } = filters;
  const ancestors = filters.include_ancestors ?? filters.include_parent_milestones ?? false;
  const scope = { ancestors, descendants: filters.include_descendants ?? false };
  let query = db
    .selectFrom('milestones')
    .selectAll()
    .where(within(caller, parent, scope));
  if (state !== 'all') query = query.where('state', '=', state);
  // A number is ambiguous where several projects and groups have it.
  if (iids && !ancestors) query = query.where(sql<SqlBool>`iid = any(${[...iids]}::bigint[])`);
  if (title !== undefined) query = query.where('title', '=', title);
  if (search)
    query = query.where((where) =>
      where.or([
        where('title', 'ilike', containing(search)),
        where('description', 'ilike', containing(search)),
      ]),
    );
  if (updated_before !== undefined) query = query.where('updated_at', '<=', new Date(updated_before));
  if (updated_after !== undefined) query = query.where('updated_at', '>=', new Date(updated_after));
  const columns = { due_date: byDueDate, id: 'milestones.id' };
  return selectPage(db, query, page, { by: 'due_date', sort: 'asc' }, columns);
}

/**
 * The milestones that have the title of the project's milestone in the projects right in its group, locked in the order
 * of their ids until the transaction ends.
 */
export const lockSameMilestones = (tx: Db, project: AuthorizedProject, id: number): Promise<MilestoneRow[]> =>
  tx
    .selectFrom('milestones')
    .innerJoin('projects', 'projects.id', 'milestones.project_id')
    .selectAll('milestones')
    .where('projects.namespace_id', '=', project.row.namespace_id)
    .where('milestones.title', '=', (eb) =>
      eb
        .selectFrom('milestones as named')
        .select('named.title')
        .where('named.id', '=', id)
        .where('named.project_id', '=', project.id),
    )
    .orderBy('milestones.id')
    .forUpdate('milestones')
    .execute();

/** The parent's own milestone, locked until the transaction ends. */
export const lockMilestone = (
  tx: Db,
  parent: ResourceParent,
  id: number,
): Promise<MilestoneRow | undefined> =>
  tx
    .selectFrom('milestones')
    .selectAll()
    .where(ownMilestones(parent))
    .where('id', '=', id)
    .forUpdate()
    .executeTakeFirst();

/** Whether another milestone has the title: of the project and its group, or of the group and the projects in it. */
export async function isTitleTaken(
  tx: Db,
  parent: ResourceParent,
  title: string,
  exceptId: number | undefined,
): Promise<boolean> {
  const around = isProject(parent)
    ? sql<SqlBool>`milestones.namespace_id = ${parent.row.namespace_id}`
    : sql<SqlBool>`milestones.project_id in (select p.id from projects p where p.namespace_id = ${parent.id})`;
  const found = await tx
    .selectFrom('milestones')
    .select('id')
    .where('title', '=', title)
    .where(sql<SqlBool>`(${ownMilestones(parent)} or ${around})`)
    .where('id', '<>', exceptId ?? 0)
    .limit(1)
    .executeTakeFirst();
  return found !== undefined;
}

export const selectMilestoneById = (db: Db, id: number): Promise<MilestoneRow | undefined> =>
  db.selectFrom('milestones').selectAll().where('id', '=', id).executeTakeFirst();

export const selectNewestMilestone = (db: Db, projectId: number): Promise<MilestoneRow | undefined> =>
  db
    .selectFrom('milestones')
    .selectAll()
    .where('project_id', '=', projectId)
    .orderBy('id', 'desc')
    .executeTakeFirst();

/** The milestones by id, with the paths that their addresses need. */
export async function milestonesById(
  db: Db,
  ids: readonly number[],
): Promise<Map<number, MilestoneWithPath>> {
  if (ids.length === 0) return new Map();
  const rows = await placedMilestones(db)
    .where('milestones.id', 'in', [...ids])
    .execute();
  return new Map(rows.map((row) => [row.id, row]));
}

/** Selects milestones with their paths; conditions name columns of `milestones`. */
const placedMilestones = (db: Db) =>
  db
    .selectFrom('milestones')
    .leftJoin('projects as p', 'p.id', 'milestones.project_id')
    .innerJoin('namespaces as n', (join) =>
      join.on((on) => on('n.id', '=', on.fn.coalesce('milestones.namespace_id', 'p.namespace_id'))),
    )
    .selectAll('milestones')
    .select((select) =>
      select.fn<string>('concat_ws', [select.val('/'), 'n.full_path', 'p.path']).as('full_path'),
    );

/** The number and title of a milestone, below an activity event `e`. */
export const shownMilestone = (id: RawBuilder<unknown>): RawBuilder<unknown> =>
  sql`select m.iid, m.title from milestones m where m.id = ${id} and m.project_id = e.project_id`;

/** Selects the milestones of these ids, to be read as JSON by milestoneOfJson(). */
export const selectMilestonesOf = (ids: RawBuilder<unknown>): RawBuilder<unknown> => sql`
  select m.*, concat_ws('/', n.full_path, p.path) as full_path
  from milestones m left join projects p on p.id = m.project_id
  join namespaces n on n.id = coalesce(m.namespace_id, p.namespace_id) where m.id = any(${ids})`;

/** The milestones within reach that texts name, or give the number of, with the paths of their groups. */
export async function selectReferenced(
  db: Db,
  withinReach: RawBuilder<unknown>,
  { titles, numbers }: { titles: readonly string[]; numbers: readonly number[] },
) {
  const { rows } = await sql<MilestoneRow & { full_path: string }>`
    select m.*, n.full_path from milestones m left join namespaces n on n.id = m.namespace_id
    where m.id in (select id from milestones where ${withinReach}
      and (title = any(${titles}::text[]) or iid = any(${numbers}::bigint[])))`.execute(db);
  return rows;
}
