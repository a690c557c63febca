/** References in texts to labels and milestones: those of the project, or of its nearest ancestor group. */
import { type RawBuilder, type SqlBool, sql } from 'kysely';
import type { ProjectReference } from '../markdown/index.ts';

/** The names that are numbers. */
export const referenceNumbers = (references: readonly ProjectReference[]): number[] =>
  references.flatMap(({ reference }) => (/^\d{1,10}$/.test(reference.name) ? Number(reference.name) : []));

/** Whether a row belongs to one of the projects, or to an ancestor group. */
export const withinReach = (references: readonly ProjectReference[]): RawBuilder<SqlBool> => {
  const projects = references.map(({ project }) => project.id);
  const groups = references.flatMap(({ project }) => project.row.ancestor_ids);
  return sql`(project_id = any(${[...new Set(projects)]}::bigint[]) or namespace_id = any(${[...new Set(groups)]}::bigint[]))`;
};

type ParentColumns = { project_id: number | null; namespace_id: number | null };

/** Levels between the row and the project: 0 for its own, then its groups; undefined for other rows. */
function distance({ project }: ProjectReference, row: ParentColumns): number | undefined {
  if (row.project_id !== null) return row.project_id === project.id ? 0 : undefined;
  const { ancestor_ids } = project.row;
  const at = ancestor_ids.indexOf(row.namespace_id ?? 0);
  return at < 0 ? undefined : ancestor_ids.length - at;
}

/** The matching row nearest to the reference's project. */
export function nearestRow<Row extends ParentColumns>(
  reference: ProjectReference,
  rows: readonly Row[],
  matches: (row: Row) => boolean,
): Row | undefined {
  return rows
    .filter(matches)
    .flatMap((row) => {
      const far = distance(reference, row);
      return far === undefined ? [] : [{ row, far }];
    })
    .toSorted((a, b) => a.far - b.far)[0]?.row;
}
