/** References to milestones in texts: `%title`, and `%2` by the number in the project. */
import { sql } from 'kysely';
import {
  type Link,
  link,
  type ProjectReference,
  projectPrefix,
  type ReferenceDefinition,
  type RenderContext,
} from '../../markdown/index.ts';
import { nearestRow, referenceNumbers, withinReach } from '../planning-references.ts';
import type { MilestoneRow } from './milestone-records.ts';

async function findMilestones(
  context: RenderContext,
  references: readonly ProjectReference[],
): Promise<Link[]> {
  const readable = references.filter(({ project }) => project.may('read_planning'));
  if (readable.length === 0) return [];
  const { services } = context;
  const titles = readable.map(({ reference }) => reference.name);
  const { rows } = await sql<MilestoneRow & { full_path: string }>`
    select m.*, n.full_path from milestones m left join namespaces n on n.id = m.namespace_id
    where m.id in (select id from milestones where ${withinReach(readable)}
      and (title = any(${titles}::text[]) or iid = any(${referenceNumbers(readable)}::bigint[])))`.execute(
    services.database.db,
  );
  return readable.flatMap((each): Link[] => {
    const { project, reference } = each;
    const milestone =
      nearestRow(each, rows, (row) => row.title === reference.name) ??
      nearestRow(each, rows, (row) => row.project_id !== null && String(row.iid) === reference.name);
    if (!milestone) return [];
    const home = milestone.project_id === null ? `groups/${milestone.full_path}` : project.fullPath;
    const place = projectPrefix(project, context);
    const text = `%${milestone.title}${place === '' ? '' : ` in ${place}`}`;
    const href = `${services.baseUrl()}/${home}/-/milestones/${milestone.iid}`;
    return [[reference, link({ href, kind: 'milestone', title: milestone.title, text })]];
  });
}

export const milestoneReferences: ReferenceDefinition = { kind: 'milestone', findInProjects: findMilestones };
