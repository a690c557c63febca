/** Reads the secure files of a project. */
import { type Selectable, sql } from 'kysely';
import type { AuthorizedProject } from '../../../kernel/access/find.ts';
import type { Db } from '../../../platform/db/database.ts';
import type { SecureFilesTable } from '../../../platform/db/rows.ts';
import { type Page, type PageRequest, selectPage } from '../../../platform/pagination/page.ts';

export type SecureFileRow = Selectable<SecureFilesTable>;
type Project = Pick<AuthorizedProject, 'id'>;

const filesOf = (db: Db, project: Project) =>
  db.selectFrom('secure_files').selectAll().where('project_id', '=', project.id);

/** One page, the oldest first. */
export const selectSecureFiles = (
  db: Db,
  project: Project,
  page: PageRequest,
): Promise<Page<SecureFileRow>> =>
  selectPage(db, filesOf(db, project), page, { by: 'id', sort: 'asc' }, { id: 'id' });

export const selectSecureFile = (db: Db, project: Project, id: number): Promise<SecureFileRow | undefined> =>
  filesOf(db, project).where('id', '=', id).executeTakeFirst();

/** Locked until the transaction ends. */
export const lockSecureFile = (tx: Db, project: Project, id: number): Promise<SecureFileRow | undefined> =>
  filesOf(tx, project).where('id', '=', id).forUpdate().executeTakeFirst();

export async function countSecureFiles(db: Db, project: Project): Promise<number> {
  const { rows } = await sql<{ count: number }>`
    select count(*)::integer as count from secure_files where project_id = ${project.id}`.execute(db);
  return rows[0]?.count ?? 0;
}
