/** Reads managed licences of a project. */
import { type Selectable, sql } from 'kysely';
import type { AuthorizedProject } from '../../kernel/access/find.ts';
import type { Db } from '../../platform/db/database.ts';
import type { ManagedLicensesTable } from '../../platform/db/rows.ts';
import { type Page, type PageRequest, selectPage } from '../../platform/pagination/page.ts';

export type LicenseRow = Selectable<ManagedLicensesTable>;

const licensesOf = (db: Db, project: AuthorizedProject) =>
  db.selectFrom('managed_licenses').selectAll().where('project_id', '=', project.id);

/** One page, oldest first. */
export const selectLicenses = (
  db: Db,
  project: AuthorizedProject,
  page: PageRequest,
): Promise<Page<LicenseRow>> =>
  selectPage(db, licensesOf(db, project), page, { by: 'id', sort: 'asc' }, { id: 'managed_licenses.id' });

/** An id before a name. */
function named(db: Db, project: AuthorizedProject, name: string) {
  const id = /^\d{1,15}$/.test(name) ? Number(name) : 0;
  return licensesOf(db, project)
    .where((or) => or.or([or('id', '=', id), or('name', '=', name)]))
    .orderBy(sql`id = ${id} desc`)
    .limit(1);
}

export const selectLicense = (
  db: Db,
  project: AuthorizedProject,
  name: string,
): Promise<LicenseRow | undefined> => named(db, project, name).executeTakeFirst();

/** The same, locked until the transaction ends. */
export const lockLicense = (
  tx: Db,
  project: AuthorizedProject,
  name: string,
): Promise<LicenseRow | undefined> => named(tx, project, name).forUpdate().executeTakeFirst();

export async function countLicenses(db: Db, project: AuthorizedProject): Promise<number> {
  const { count } = await db
    .selectFrom('managed_licenses')
    .where('project_id', '=', project.id)
    .select(({ fn }) => fn.countAll<number>().as('count'))
    .executeTakeFirstOrThrow();
  return count;
}
