/** Finds a parent's own milestones, and those that an issue of a project, or an epic's issues, can have. */
import { type Expression, type RawBuilder, type SqlBool, sql } from 'kysely';
import type { AuthorizedProject } from '../../../kernel/access/find.ts';
import { isProject, type ResourceParent } from '../../../kernel/access/resource-parents.ts';
import type { Db } from '../../../platform/db/database.ts';
import { invalid } from '../../../platform/failure.ts';
import type { MilestoneRow } from './milestone-records.ts';

/** The condition on the milestones of the project or group itself. */
export const ownMilestones = (parent: ResourceParent): RawBuilder<SqlBool> =>
  isProject(parent) ? sql`milestones.project_id = ${parent.id}` : sql`milestones.namespace_id = ${parent.id}`;

/** The parent's own milestone. */
export const selectMilestone = (
  db: Db,
  parent: ResourceParent,
  id: number,
): Promise<MilestoneRow | undefined> =>
  db
    .selectFrom('milestones')
    .selectAll()
    .where(ownMilestones(parent))
    .where('id', '=', id)
    .executeTakeFirst();

const ofProject = (db: Db, project: AuthorizedProject) =>
  db
    .selectFrom('milestones')
    .selectAll()
    .where((where) =>
      where.or([where('project_id', '=', project.id), where('namespace_id', 'in', project.row.ancestor_ids)]),
    );

/** The milestone of the project or of an ancestor group; 400 under `milestone_id` for any other. */
export async function availableMilestone(
  db: Db,
  project: AuthorizedProject,
  id: number,
): Promise<MilestoneRow> {
  const row = await ofProject(db, project).where('id', '=', id).executeTakeFirst();
  if (!row) throw invalid({ milestone_id: ['is invalid'] });
  return row;
}

/** The project's own come first, then those of the nearest ancestor group. */
function byDistance(project: AuthorizedProject, rows: readonly MilestoneRow[]): MilestoneRow[] {
  const distance = ({ namespace_id }: MilestoneRow): number =>
    namespace_id === null ? Infinity : project.row.ancestor_ids.indexOf(namespace_id);
  return rows.toSorted((a, b) => distance(b) - distance(a));
}

/** The milestone with this title of the project, or else of the nearest ancestor group. */
export async function availableMilestoneByTitle(
  db: Db,
  project: AuthorizedProject,
  title: string | Expression<string>,
): Promise<MilestoneRow | undefined> {
  return byDistance(project, await ofProject(db, project).where('title', '=', title).execute())[0];
}

/** The milestones with these titles, each of them as availableMilestoneByTitle() finds it, or those with these ids. */
export async function availableMilestones(
  db: Db,
  project: AuthorizedProject,
  wanted: { titles: readonly string[] } | { ids: readonly number[] },
): Promise<MilestoneRow[]> {
  const all = ofProject(db, project);
  if ('ids' in wanted) return wanted.ids.length === 0 ? [] : all.where('id', 'in', wanted.ids).execute();
  if (wanted.titles.length === 0) return [];
  const rows = byDistance(project, await all.where('title', 'in', wanted.titles).execute());
  return [...Map.groupBy(rows, ({ title }) => title).values()].flatMap(([nearest]) => nearest ?? []);
}
