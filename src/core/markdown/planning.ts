/** Links labels and milestones of a project and of its ancestor groups. */
import { type RawBuilder, type SqlBool, sql } from 'kysely';
import type { LabelRow } from '../work/label-records.ts';
import type { MilestoneRow } from '../work/milestone-records.ts';
import { labelLink, link } from './links.ts';
import { type Link, projectPrefix, type RenderContext, type ResolvedReference } from './render-context.ts';

const numbersOf = (placed: readonly ResolvedReference[]): number[] =>
  placed.flatMap(({ reference }) => (/^\d{1,10}$/.test(reference.name) ? Number(reference.name) : []));

/** Whether a row belongs to one of the projects, or to an ancestor group. */
const within = (placed: readonly ResolvedReference[]): RawBuilder<SqlBool> => {
  const projects = placed.map(({ project }) => project.id);
  const groups = placed.flatMap(({ project }) => project.row.ancestor_ids);
  return sql`(project_id = any(${[...new Set(projects)]}::bigint[]) or namespace_id = any(${[...new Set(groups)]}::bigint[]))`;
};

type Homed = { project_id: number | null; namespace_id: number | null };

/** Levels between the row and the project: 0 for its own, then its groups; undefined for other rows. */
function distance({ project }: ResolvedReference, row: Homed): number | undefined {
  if (row.project_id !== null) return row.project_id === project.id ? 0 : undefined;
  const { ancestor_ids } = project.row;
  const at = ancestor_ids.indexOf(row.namespace_id ?? 0);
  return at < 0 ? undefined : ancestor_ids.length - at;
}

/** The matching row nearest to the reference's project. */
function nearest<Row extends Homed>(
  each: ResolvedReference,
  rows: readonly Row[],
  means: (row: Row) => boolean,
) {
  return rows
    .filter(means)
    .flatMap((row) => {
      const far = distance(each, row);
      return far === undefined ? [] : [{ row, far }];
    })
    .toSorted((a, b) => a.far - b.far)[0]?.row;
}

/** `~name`, and `~12` by id. */
export async function findLabels(
  context: RenderContext,
  placed: readonly ResolvedReference[],
): Promise<Link[]> {
  const readable = placed.filter(({ project }) => project.may('read_planning'));
  if (readable.length === 0) return [];
  const names = readable.map(({ reference }) => reference.name);
  const { rows } = await sql<LabelRow>`
    select * from labels where ${within(readable)}
      and (name = any(${names}::text[]) or id = any(${numbersOf(readable)}::bigint[]))`.execute(
    context.services.database.db,
  );
  return readable.flatMap((each): Link[] => {
    const { name } = each.reference;
    const label =
      nearest(each, rows, (row) => row.name === name) ??
      nearest(each, rows, (row) => String(row.id) === name);
    if (!label) return [];
    const href = `${context.services.baseUrl()}/${each.project.fullPath}/-/issues?label_name=${encodeURIComponent(label.name)}`;
    return [[each.reference, labelLink({ ...label, href, place: projectPrefix(each.project, context) })]];
  });
}

/** `%title`, and `%2` by the number in the project. */
export async function findMilestones(
  context: RenderContext,
  placed: readonly ResolvedReference[],
): Promise<Link[]> {
  const readable = placed.filter(({ project }) => project.may('read_planning'));
  if (readable.length === 0) return [];
  const titles = readable.map(({ reference }) => reference.name);
  const { rows } = await sql<MilestoneRow & { full_path: string }>`
    select m.*, n.full_path from milestones m left join namespaces n on n.id = m.namespace_id
    where m.id in (select id from milestones where ${within(readable)}
      and (title = any(${titles}::text[]) or iid = any(${numbersOf(readable)}::bigint[])))`.execute(
    context.services.database.db,
  );
  return readable.flatMap((each): Link[] => {
    const { project, reference } = each;
    const milestone =
      nearest(each, rows, (row) => row.title === reference.name) ??
      nearest(each, rows, (row) => row.project_id !== null && String(row.iid) === reference.name);
    if (!milestone) return [];
    const home = milestone.project_id === null ? `groups/${milestone.full_path}` : project.fullPath;
    const place = projectPrefix(project, context);
    const text = `%${milestone.title}${place === '' ? '' : ` in ${place}`}`;
    const href = `${context.services.baseUrl()}/${home}/-/milestones/${milestone.iid}`;
    return [[reference, link({ href, kind: 'milestone', title: milestone.title, text })]];
  });
}
