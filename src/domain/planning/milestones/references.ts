/** References to milestones in texts: `%title`, and `%2` by the number in the project. */
import {
  type Link,
  link,
  type ProjectReference,
  projectPrefix,
  type ReferenceDefinition,
  type RenderContext,
} from '../../markdown/index.ts';
import { nearestRow, referenceNumbers, withinReach } from '../planning-references.ts';
import { selectReferenced } from './queries.ts';

async function findMilestones(
  context: RenderContext,
  references: readonly ProjectReference[],
): Promise<Link[]> {
  const readable = references.filter(({ project }) => project.may('read_planning'));
  if (readable.length === 0) return [];
  const { services } = context;
  const titles = readable.map(({ reference }) => reference.name);
  const rows = await selectReferenced(services.database.db, withinReach(readable), {
    titles,
    numbers: referenceNumbers(readable),
  });
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
