/** Protection rules of a project's images and tags. */
import { type Selectable, sql } from 'kysely';
import type { Db } from '../../../platform/db/database.ts';
import type {
  ContainerRepositoryProtectionRulesTable,
  ContainerTagProtectionRulesTable,
} from '../../../platform/db/rows.ts';
import { type Page, type PageRequest, selectPage } from '../../../platform/pagination/page.ts';
import { patternCompiler } from '../../../platform/patterns/pattern.ts';
import { type RepositoryRule, type TagGuard, type TagRule, tagGuard } from './rules.ts';

export type RepositoryRuleRow = Selectable<ContainerRepositoryProtectionRulesTable>;
export type TagRuleRow = Selectable<ContainerTagProtectionRulesTable>;
type Project = { id: number };

const repositoryRules = (db: Db, { id }: Project) =>
  db.selectFrom('container_repository_protection_rules').selectAll().where('project_id', '=', id);
const tagRules = (db: Db, { id }: Project) =>
  db.selectFrom('container_tag_protection_rules').selectAll().where('project_id', '=', id);

/** One page, the oldest first. */
export const selectRepositoryRulePage = (
  db: Db,
  project: Project,
  page: PageRequest,
): Promise<Page<RepositoryRuleRow>> =>
  selectPage(db, repositoryRules(db, project), page, { by: 'id', sort: 'asc' }, { id: 'id' });

/** The same of tags. */
export const selectTagRulePage = (db: Db, project: Project, page: PageRequest): Promise<Page<TagRuleRow>> =>
  selectPage(db, tagRules(db, project), page, { by: 'id', sort: 'asc' }, { id: 'id' });

export type Rules = { repository: readonly RepositoryRule[]; tag: readonly TagRule[] };

/** All rules of the project, by one statement. */
export async function selectRules(db: Db, { id }: Project): Promise<Rules> {
  const { rows } = await sql<RepositoryRule & TagRule & { is_tag: boolean }>`
    select false as is_tag, below_project, null as tag_name_pattern, push_level, delete_level
    from container_repository_protection_rules where project_id = ${id}
    union all
    select true, null, tag_name_pattern, push_level, delete_level
    from container_tag_protection_rules where project_id = ${id}`.execute(db);
  return { repository: rows.filter(({ is_tag }) => !is_tag), tag: rows.filter(({ is_tag }) => is_tag) };
}

/** The guard of a project's tags; undefined where it has no rules of them. */
export const guardOf = async ({ tag }: Pick<Rules, 'tag'>, level: number): Promise<TagGuard | undefined> =>
  tag.length === 0 ? undefined : tagGuard(tag, level, await patternCompiler());
