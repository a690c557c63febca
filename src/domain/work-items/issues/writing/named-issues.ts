/** Issues that texts name by project and number, as far as somebody sees them. */
import type { Actor } from '../../../../kernel/actor.ts';
import type { ProjectAbility } from '../../../../kernel/policy/policy.ts';
import type { Db } from '../../../../platform/db/database.ts';
import type { Sql } from '../../../../platform/db/driver/sql.ts';
import { inNamedProjects, type Noteable, type NoteableParent } from '../../../conversation/index.ts';
import { issueNoteable } from '../records/issue-noteable.ts';
import { selectReferenced } from '../records/referenced-queries.ts';
import { seesIssue } from '../records/visibility-queries.ts';

/** The path is as written: a full one, the name of a project beside the text's, or undefined for the text's own. */
type NamedIssue = { path: string | undefined; iid: number };

/**
 * Those that exist and that the actor sees, in projects where the actor has the ability too, by two statements. The receipts
 * of `home` are the actor's.
 */
export async function findNamedIssues(
  { db, points }: { db: Db; points: Sql },
  actor: Actor,
  home: NoteableParent,
  named: readonly NamedIssue[],
  ability: ProjectAbility = 'read_issues',
): Promise<Noteable[]> {
  if (named.length === 0) return [];
  const placed = await inNamedProjects(points, actor, ability, home, named);
  const wanted = placed.filter(({ project }) => project.may('read_issues'));
  if (wanted.length === 0) return [];
  const rows = await selectReferenced(
    db,
    wanted.map(({ project }) => project.id),
    wanted.map(({ named: { iid } }) => iid),
    actor.id,
  );
  const byId = new Map(wanted.map(({ project }) => [project.id, project]));
  return rows.flatMap((row) => {
    const project = byId.get(row.project_id);
    if (!project || !seesIssue(project, actor, row, row.assigned ? [actor.id] : [])) return [];
    return [issueNoteable(project, row)];
  });
}
