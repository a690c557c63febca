/** References to merge requests in texts: `!1`. */
import {
  type Link,
  link,
  type ProjectReference,
  projectPrefix,
  type ReferenceDefinition,
  type RenderContext,
} from '../../markdown/index.ts';
import { mergeRequestWebUrl } from '../records/merge-request-rows.ts';
import { selectReferenced } from './queries.ts';

async function findMergeRequests(
  context: RenderContext,
  references: readonly ProjectReference[],
): Promise<Link[]> {
  const { services } = context;
  const readable = references.filter(({ project }) => project.may('read_merge_requests'));
  if (readable.length === 0) return [];
  const projectIds = readable.map(({ project }) => project.id);
  const numbers = readable.map(({ reference }) => Number(reference.name));
  const rows = await selectReferenced(services.database.db, projectIds, numbers);
  return readable.flatMap(({ project, reference }): Link[] => {
    const found = rows.find((row) => row.project_id === project.id && row.iid === Number(reference.name));
    if (!found) return [];
    const shown = reference.address ? `${projectPrefix(project, context)}!${found.iid}` : reference.text;
    // What is being merged is as open as before.
    const isOpen = found.state === 'opened' || found.state === 'locked';
    const text = isOpen ? shown : `${shown} (${found.state})`;
    const href = mergeRequestWebUrl(services.baseUrl(), project.fullPath, found.iid);
    return [[reference, link({ href, kind: 'merge_request', title: found.title, text })]];
  });
}

export const mergeRequestReferences: ReferenceDefinition = {
  kind: 'merge_request',
  findInProjects: findMergeRequests,
};
