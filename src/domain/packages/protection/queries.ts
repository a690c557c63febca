/** Protection rules of a project's packages. */
import type { Selectable } from 'kysely';
import type { AuthorizedProject } from '../../../kernel/access/find.ts';
import type { Db } from '../../../platform/db/database.ts';
import type { PackageProtectionRulesTable } from '../../../platform/db/rows.ts';
import { type Page, type PageRequest, selectPage } from '../../../platform/pagination/page.ts';

export type RuleRow = Selectable<PackageProtectionRulesTable>;
type Project = Pick<AuthorizedProject, 'id'>;

const rulesOf = (db: Db, project: Project) =>
  db.selectFrom('package_protection_rules').selectAll().where('project_id', '=', project.id);

/** One page, the oldest first. */
export const selectRules = (db: Db, project: Project, page: PageRequest): Promise<Page<RuleRow>> =>
  selectPage(db, rulesOf(db, project), page, { by: 'id', sort: 'asc' }, { id: 'id' });

export const selectAllRules = (db: Db, project: Project): Promise<RuleRow[]> =>
  rulesOf(db, project).execute();

/** Those of the package's format. */
export const selectRulesFor = (
  db: Db,
  project: Project,
  { package_type }: { package_type: string },
): Promise<RuleRow[]> => rulesOf(db, project).where('package_type', '=', package_type).execute();
