/** Reads the resource groups of a project, and who uses and waits for what they are of. */
import { type Selectable, sql } from 'kysely';
import type { AuthorizedProject } from '../../../kernel/access/find.ts';
import type { Db } from '../../../platform/db/database.ts';
import type { ResourceGroupsTable } from '../../../platform/db/rows.ts';
import { offsetPage, type Page, type PageRequest, selectPage } from '../../../platform/pagination/page.ts';
import { type ProcessMode, upcoming, using } from '../processing/resource-actions.ts';

export type ResourceGroupRow = Selectable<ResourceGroupsTable>;

const groupsOf = (db: Db, project: AuthorizedProject) =>
  db.selectFrom('resource_groups').selectAll().where('project_id', '=', project.id);

/** One page, by key. */
export const selectGroups = (
  db: Db,
  project: AuthorizedProject,
  page: PageRequest,
): Promise<Page<ResourceGroupRow>> =>
  selectPage(db, groupsOf(db, project), page, { by: 'key', sort: 'asc' }, { id: 'id', key: 'key' });

export const selectGroup = (
  db: Db,
  project: AuthorizedProject,
  key: string,
): Promise<ResourceGroupRow | undefined> => groupsOf(db, project).where('key', '=', key).executeTakeFirst();

/** The job that has the resource. */
export async function selectUser(db: Db, { id }: ResourceGroupRow): Promise<number | undefined> {
  const { rows } = await sql<{ id: number }>`
    select id from ci_jobs where resource_group_id = ${id} and not retried and ${using} order by id limit 1`.execute(
    db,
  );
  return rows[0]?.id;
}

/** One page of the ids of the jobs that get it next, in their order. */
export async function selectUpcoming(
  db: Db,
  { id, process_mode }: ResourceGroupRow,
  page: PageRequest & { kind: 'offset' },
): Promise<Page<number>> {
  // The column has a check of the same values.
  const { which, order } = upcoming[process_mode as ProcessMode];
  const from = sql`from ci_jobs where resource_group_id = ${id} and not retried and ${which}`;
  const { rows } = await sql<{ id: number }>`
    select id ${from} order by ${order} limit ${page.perPage + 1} offset ${page.offset}`.execute(db);
  return offsetPage(
    page,
    rows.map((row) => row.id),
    async () => {
      const counted = await sql<{ count: number }>`
        select count(*)::integer as count from (select ${from} limit ${page.countLimit + 1}) c`.execute(db);
      return counted.rows[0]?.count ?? 0;
    },
  );
}
