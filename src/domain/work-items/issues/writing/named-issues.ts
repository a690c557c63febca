/** Issues that texts name by project and number, as far as somebody sees them. */
import { type AuthorizedProject, selectProjects } from '../../../../kernel/access/find.ts';
import type { Actor } from '../../../../kernel/actor.ts';
import type { Db } from '../../../../platform/db/database.ts';
import type { Sql } from '../../../../platform/db/driver/sql.ts';
import { selectReferenced } from '../records/referenced-queries.ts';
import { seesIssue } from '../records/visibility-queries.ts';

/** The path is as written: a full one, the name of a project beside the text's, or null for the text's own. */
type NamedIssue = { projectPath: string | null; iid: number };

/** The full path, in lower case. */
function fullPathOf(home: AuthorizedProject, path: string): string {
  const namespace = home.fullPath.slice(0, home.fullPath.lastIndexOf('/'));
  return (path.includes('/') ? path : `${namespace}/${path}`).toLowerCase();
}

/** Ids of those that exist and that the actor sees, by two statements. The receipt of `home` is the actor's. */
export async function findNamedIssues(
  { db, points }: { db: Db; points: Sql },
  actor: Actor,
  home: AuthorizedProject,
  named: readonly NamedIssue[],
): Promise<number[]> {
  if (named.length === 0) return [];
  const own = home.fullPath.toLowerCase();
  const placed = named.map(({ projectPath, iid }) => ({
    path: projectPath === null ? own : fullPathOf(home, projectPath),
    iid,
  }));
  const others = [...new Set(placed.map(({ path }) => path))].filter((path) => path !== own);
  const projects = others.length > 0 ? await selectProjects(points, actor, 'read_issues', others) : new Map();
  if (home.may('read_issues')) projects.set(own, home);
  const wanted = placed.flatMap(({ path, iid }) => {
    const project: AuthorizedProject | undefined = projects.get(path);
    return project ? [{ project, iid }] : [];
  });
  if (wanted.length === 0) return [];
  const rows = await selectReferenced(
    db,
    wanted.map(({ project }) => project.id),
    wanted.map(({ iid }) => iid),
    actor.id,
  );
  const byId = new Map(wanted.map(({ project }) => [project.id, project]));
  return rows.flatMap((row) => {
    const project = byId.get(row.project_id);
    return project && seesIssue(project, actor, row, row.assigned ? [actor.id] : []) ? [row.id] : [];
  });
}
