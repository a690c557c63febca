/** Reads integrations of a project or group: its own, and where it has none those of the nearest group around. */
import { type Selectable, type SqlBool, sql } from 'kysely';
import { isProject, type ResourceParent } from '../../../kernel/access/resource-parents.ts';
import type { Db } from '../../../platform/db/database.ts';
import type { IntegrationsTable } from '../../../platform/db/rows.ts';
import { type Page, type PageRequest, selectPage } from '../../../platform/pagination/page.ts';
import { hookFlagsOf } from '../kinds/description.ts';

export type IntegrationRow = Selectable<IntegrationsTable>;

/** The condition on the parent's own integrations. */
export const ownIntegrations = (parent: ResourceParent) =>
  isProject(parent)
    ? sql<SqlBool>`integrations.project_id = ${parent.id}`
    : sql<SqlBool>`integrations.namespace_id = ${parent.id}`;

export const isOwn = (parent: ResourceParent, { project_id, namespace_id }: IntegrationRow): boolean =>
  isProject(parent) ? project_id === parent.id : namespace_id === parent.id;

/** Groups in a statement, outermost first: the nearest integration of each kind that the project or they have. */
export const nearest = (projectId: number | null, groups: ReturnType<typeof sql>) => sql<IntegrationRow>`
  select distinct on (slug) i.* from integrations i
  where i.project_id = ${projectId}::bigint or i.namespace_id = any(${groups})
  order by slug, (i.project_id is not null) desc, array_position(${groups}, i.namespace_id) desc`;

/** The integrations of the parent, those that are off among them. */
function effective(db: Db, parent: ResourceParent) {
  const groups = isProject(parent) ? parent.row.ancestor_ids : [...parent.row.ancestor_ids, parent.id];
  const ids = nearest(isProject(parent) ? parent.id : null, sql`${groups}::bigint[]`);
  return db
    .selectFrom('integrations')
    .selectAll()
    .where(sql<SqlBool>`integrations.id in (select id from (${ids}) as near)`);
}

/** One page of the active ones, oldest first. */
export const selectIntegrations = (
  db: Db,
  parent: ResourceParent,
  page: PageRequest,
): Promise<Page<IntegrationRow>> =>
  selectPage(
    db,
    effective(db, parent).where('active', '=', true),
    page,
    { by: 'id', sort: 'asc' },
    { id: 'integrations.id' },
  );

export const selectIntegration = (
  db: Db,
  parent: ResourceParent,
  slug: string,
): Promise<IntegrationRow | undefined> => effective(db, parent).where('slug', '=', slug).executeTakeFirst();

/** The active integrations of these kinds: its own before a group's, then the oldest. */
export const selectActiveOf = (
  db: Db,
  parent: ResourceParent,
  slugs: readonly string[],
): Promise<IntegrationRow[]> =>
  effective(db, parent)
    .where('active', '=', true)
    .where('slug', 'in', [...slugs])
    .orderBy(sql`${ownIntegrations(parent)} desc nulls last`)
    .orderBy('id')
    .execute();

/** The parent's own, locked until the transaction ends. */
export const lockIntegration = (
  tx: Db,
  parent: ResourceParent,
  slug: string,
): Promise<IntegrationRow | undefined> =>
  tx
    .selectFrom('integrations')
    .selectAll()
    .where(ownIntegrations(parent))
    .where('slug', '=', slug)
    .forUpdate()
    .executeTakeFirst();

/** Stands among the flags where an active integration has names of issues of its own. */
export const TRACKER_NAMES = 'tracker_names';

/** The flags of hooks that any active integration has; these fields make names of issues. */
export async function selectIntegrationFlags(
  db: Db,
  fields: readonly string[],
): Promise<ReadonlySet<string>> {
  const { rows } = await sql<{ flag: string }>`
    select distinct unnest(events) as flag from integrations where active
    union all (select ${TRACKER_NAMES} from integrations where active and properties ?| ${[...fields]}::text[] limit 1)`.execute(
    db,
  );
  return new Set(hookFlagsOf(rows.map(({ flag }) => flag)));
}
