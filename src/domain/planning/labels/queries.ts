/** Labels: the lists of a project or group, one by id or name, and the other data of a page. */
import { type RawBuilder, type SqlBool, sql } from 'kysely';
import type { AuthorizedProject } from '../../../kernel/access/find.ts';
import { groupsBelow, projectsIn } from '../../../kernel/access/resource-parent-queries.ts';
import { isProject, type Reach, type ResourceParent } from '../../../kernel/access/resource-parents.ts';
import type { Caller } from '../../../kernel/actor.ts';
import type { Db } from '../../../platform/db/database.ts';
import { containing } from '../../../platform/db/search.ts';
import { type Page, type PageRequest, selectPage } from '../../../platform/pagination/page.ts';
import type { LabelRow } from './label-records.ts';

/** Labels to include besides the parent's own. */
export type LabelScope = {
  include_ancestor_groups?: boolean;
  include_descendant_groups?: boolean;
  only_group_labels?: boolean;
};

export type LabelFilters = LabelScope & { search?: string; archived?: boolean };

const own = (parent: ResourceParent): RawBuilder<SqlBool> =>
  isProject(parent) ? sql`labels.project_id = ${parent.id}` : sql`labels.namespace_id = ${parent.id}`;

/** The condition on labels that a caller finds in the parent. */
function within(caller: Caller, parent: ResourceParent, scope: LabelScope): RawBuilder<SqlBool> {
  const parts = [own(parent)];
  if (scope.include_ancestor_groups)
    parts.push(sql`labels.namespace_id = any(${parent.row.ancestor_ids}::bigint[])`);
  if (!isProject(parent)) {
    const below = scope.include_descendant_groups
      ? groupsBelow(caller, parent.id)
      : sql`(${parent.id}::bigint)`;
    if (scope.include_descendant_groups) parts.push(sql`labels.namespace_id in ${below}`);
    if (scope.only_group_labels === false) parts.push(sql`labels.project_id in ${projectsIn(caller, below)}`);
  }
  return sql`(${sql.join(parts, sql` or `)})`;
}

/** One page by name. */
export function selectLabels(
  db: Db,
  caller: Caller,
  parent: ResourceParent,
  filters: LabelFilters,
  page: PageRequest,
): Promise<Page<LabelRow>> {
  let query = db
    .selectFrom('labels')
    .selectAll()
    .where(within(caller, parent, filters));
  const { search, archived } = filters;
  if (search)
    query = query.where((where) =>
      where.or([
        where('name', 'ilike', containing(search)),
        where('description', 'ilike', containing(search)),
      ]),
    );
  if (archived !== undefined) query = query.where('archived', '=', archived);
  return selectPage(db, query, page, { by: 'name', sort: 'asc' }, { name: 'labels.name', id: 'labels.id' });
}

/** An id before a name, the parent's own before those around it. */
function named(db: Db, where: RawBuilder<SqlBool>, parent: ResourceParent, name: string) {
  const id = /^\d{1,15}$/.test(name) ? Number(name) : 0;
  return db
    .selectFrom('labels')
    .selectAll()
    .where(where)
    .where((or) => or.or([or('id', '=', id), or('name', '=', name)]))
    .orderBy(sql`id = ${id} desc`)
    .orderBy(sql`${own(parent)} desc nulls last`)
    .orderBy('id', 'desc')
    .limit(1);
}

/** The label of this id or name that a caller finds in the parent. */
export const selectLabel = (
  db: Db,
  caller: Caller,
  parent: ResourceParent,
  name: string,
  scope: LabelScope,
): Promise<LabelRow | undefined> => named(db, within(caller, parent, scope), parent, name).executeTakeFirst();

/** The parent's own label, locked until the transaction ends. */
export const lockLabel = (tx: Db, parent: ResourceParent, name: string): Promise<LabelRow | undefined> =>
  named(tx, own(parent), parent, name).forUpdate().executeTakeFirst();

/**
 * The labels that have the name of the project's label in the projects right in its group, locked in the order of their
 * ids until the transaction ends.
 */
export const lockSameLabels = (tx: Db, project: AuthorizedProject, name: string): Promise<LabelRow[]> =>
  tx
    .selectFrom('labels')
    .innerJoin('projects', 'projects.id', 'labels.project_id')
    .selectAll('labels')
    .where('projects.namespace_id', '=', project.row.namespace_id)
    .where('labels.name', '=', named(tx, own(project), project, name).clearSelect().select('name'))
    .orderBy('labels.id')
    .forUpdate('labels')
    .execute();

/** The parent's own label, and whether a project's group has given the new name to a label of its own. */
export const lockRenamed = (
  tx: Db,
  parent: ResourceParent,
  name: string,
  newName: string | undefined,
): Promise<(LabelRow & { is_of_group: boolean }) | undefined> => {
  const groupId = isProject(parent) ? parent.row.namespace_id : null;
  const isOfGroup = sql<boolean>`exists (
    select from labels g where g.namespace_id = ${groupId}::bigint and g.name = ${newName ?? null}::text)`;
  return named(tx, own(parent), parent, name)
    .select(isOfGroup.as('is_of_group'))
    .forUpdate()
    .executeTakeFirst();
};

/** What a label is to a user, and to a project. */
export type LabelState = { subscribed: boolean; priority: number | null };

/** The states of the labels in the project, or without one in their group. */
export async function selectStates(
  db: Db,
  ids: readonly number[],
  { userId, projectId }: { userId: number | null; projectId: number | null },
): Promise<Map<number, LabelState>> {
  if (ids.length === 0) return new Map();
  const { rows } = await sql<LabelState & { id: number }>`
    select l.id, p.priority, exists (select from subscriptions s where s.user_id = ${userId}::bigint and s.label_id = l.id
      and s.project_id is not distinct from ${projectId}::bigint and s.subscribed) as subscribed
    from unnest(${[...ids]}::bigint[]) l(id)
    left join label_priorities p on p.project_id = ${projectId}::bigint and p.label_id = l.id`.execute(db);
  return new Map(rows.map(({ id, ...state }) => [id, state]));
}

/** Gives a label a priority in a project, or takes it away. */
export async function writePriority(
  tx: Db,
  projectId: number,
  labelId: number,
  priority: number | null,
): Promise<void> {
  if (priority === null)
    await tx
      .deleteFrom('label_priorities')
      .where('project_id', '=', projectId)
      .where('label_id', '=', labelId)
      .execute();
  else
    await tx
      .insertInto('label_priorities')
      .values({ project_id: projectId, label_id: labelId, priority })
      .onConflict((known) => known.columns(['project_id', 'label_id']).doUpdateSet({ priority }))
      .execute();
}

/** The labels of the project and of its ancestor groups, by name; only those in `names`, where given. */
export async function availableLabels(db: Db, reach: Reach, names?: readonly string[]): Promise<LabelRow[]> {
  if (names?.length === 0) return [];
  let query = db
    .selectFrom('labels')
    .selectAll()
    .where((where) =>
      where.or([
        where('project_id', '=', reach.projectId ?? 0),
        ...(reach.ancestorIds.length > 0 ? [where('namespace_id', 'in', [...reach.ancestorIds])] : []),
      ]),
    );
  if (names) query = query.where('name', 'in', [...names]);
  return query.orderBy('name').orderBy('id').execute();
}

/** The labels of issues, epics or merge requests, by the id of those that have any. */
export async function labelsOf(
  db: Db,
  kind: 'issue' | 'epic' | 'merge_request',
  ids: readonly number[],
): Promise<Map<number, LabelRow[]>> {
  const labels = new Map<number, LabelRow[]>();
  if (ids.length === 0) return labels;
  const column = `label_links.${kind}_id` as const;
  const rows = await db
    .selectFrom('label_links')
    .innerJoin('labels', 'labels.id', 'label_links.label_id')
    .selectAll('labels')
    .select(`${column} as target_id`)
    .where(column, 'in', [...ids])
    .orderBy('labels.name')
    .orderBy('labels.id')
    .execute();
  for (const { target_id, ...label } of rows) {
    if (target_id === null) continue;
    const known = labels.get(target_id);
    if (known) known.push(label);
    else labels.set(target_id, [label]);
  }
  return labels;
}

/**
 * Selects the labels of issues or epics, each once, as LabelBasicRow with its targets and its place by name. Descriptions
 * may be long: without `described` they are null.
 */
export const selectLabelsOf = (
  column: 'issue_id' | 'epic_id' | 'merge_request_id',
  ids: RawBuilder<unknown>,
  described: boolean,
): RawBuilder<unknown> => sql`
  select l.id, l.name, ${described ? sql`l.description` : sql`null::text`} as description, l.color, l.archived,
    array_agg(k.${sql.ref(column)}) as target_ids, row_number() over (order by l.name, l.id) as place
  from label_links k join labels l on l.id = k.label_id where k.${sql.ref(column)} = any(${ids}) group by l.id`;

/** The labels within reach that texts name, or give the id of. */
export async function selectReferenced(
  db: Db,
  withinReach: RawBuilder<unknown>,
  { names, numbers }: { names: readonly string[]; numbers: readonly number[] },
): Promise<LabelRow[]> {
  const { rows } = await sql<LabelRow>`
    select * from labels where ${withinReach}
      and (name = any(${names}::text[]) or id = any(${numbers}::bigint[]))`.execute(db);
  return rows;
}
