/** What the groups above a project say of packages that come again. */
import type { DuplicateFormat } from '../../../kernel/namespaces/package-settings.ts';
import type { Db } from '../../../platform/db/database.ts';
import { patternMatcher } from '../../../platform/patterns/pattern.ts';
import type { PackageRow } from '../records/queries.ts';
import { aboveProject, selectPackageSettings } from '../records/settings-queries.ts';
import { duplicateRule, mayComeAgain } from './duplicates.ts';

/** Whether the groups of its project let the package come again. */
export async function selectMayComeAgain(
  db: Db,
  format: DuplicateFormat,
  { project_id, name, version }: Pick<PackageRow, 'project_id' | 'name' | 'version'>,
): Promise<boolean> {
  const groups = await selectPackageSettings(db, aboveProject(project_id));
  const rule = duplicateRule(format, groups);
  return mayComeAgain(rule, { name, version }, await patternMatcher([rule.exception]));
}
