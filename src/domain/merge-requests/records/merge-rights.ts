/** Who may merge into a branch: those who may merge or push there (facts: Permissions). */
import type { AuthorizedProject } from '../../../kernel/access/find.ts';
import type { Caller } from '../../../kernel/actor.ts';
import type { ApplicationSettings } from '../../../kernel/settings/definitions.ts';
import type { Db } from '../../../platform/db/database.ts';
import { guardByRows, guardRefs, type RuleRow } from '../../repositories/index.ts';

/** The rules of the project's branches are read, unless they were already. */
export async function mayMerge(
  { db, settings, actor }: { db: Db; settings: ApplicationSettings; actor: Caller },
  project: AuthorizedProject,
  branch: string,
  rules?: readonly RuleRow[],
): Promise<boolean> {
  if (!actor || !project.may('read_merge_requests')) return false;
  const guard = rules
    ? await guardByRows(db, project, actor, settings, rules)
    : await guardRefs(db, project, actor, settings);
  return guard.mayMerge(branch) || guard.mayPush(branch);
}
