/** What the groups above a project say of packages that come again. */
import { sql } from 'kysely';
import { groupSettings } from '../../../kernel/namespaces/group-settings.ts';
import { type DuplicateFormat, packageSettingsOf } from '../../../kernel/namespaces/package-settings.ts';
import type { Db } from '../../../platform/db/database.ts';
import { patternMatcher } from '../../../platform/patterns/pattern.ts';
import type { PackageRow } from '../records/queries.ts';
import { duplicateRule, mayComeAgain } from './duplicates.ts';

/** Whether the groups of its project let the package come again. */
export async function selectMayComeAgain(
  db: Db,
  format: DuplicateFormat,
  { project_id, name, version }: Pick<PackageRow, 'project_id' | 'name' | 'version'>,
): Promise<boolean> {
  const { rows } = await sql<{ settings: unknown }>`
    select each.settings from projects p join namespaces own on own.id = p.namespace_id
    join namespaces each on each.id = any(own.ancestor_ids) and each.kind = 'group'
    where p.id = ${project_id} order by cardinality(each.ancestor_ids) desc`.execute(db);
  const groups = rows.map((row) => packageSettingsOf(groupSettings(row)));
  const rule = duplicateRule(format, groups);
  return mayComeAgain(rule, { name, version }, await patternMatcher([rule.exception]));
}
