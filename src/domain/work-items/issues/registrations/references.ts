/** References to issues in texts: `#1`. */

import {
  type Link,
  link,
  type ProjectReference,
  projectPrefix,
  type ReferenceDefinition,
  type RenderContext,
} from '../../../markdown/index.ts';
import { issueWebUrl } from '../records/issue-rows.ts';
import { selectReferenced } from '../records/referenced-queries.ts';
import { seesIssue } from '../records/visibility-queries.ts';

async function findIssues(context: RenderContext, references: readonly ProjectReference[]): Promise<Link[]> {
  const { services, reader } = context;
  const readable = references.filter(({ project }) => project.may('read_issues'));
  if (readable.length === 0) return [];
  const projectIds = readable.map(({ project }) => project.id);
  const numbers = readable.map(({ reference }) => Number(reference.name));
  const rows = await selectReferenced(services.database.db, projectIds, numbers, reader?.id ?? 0);
  return readable.flatMap(({ project, reference }): Link[] => {
    const issue = rows.find((row) => row.project_id === project.id && row.iid === Number(reference.name));
    if (!issue || !seesIssue(project, reader, issue, issue.assigned && reader ? [reader.id] : [])) return [];
    const shown = reference.address ? `${projectPrefix(project, context)}#${issue.iid}` : reference.text;
    const text = issue.state === 'closed' ? `${shown} (closed)` : shown;
    const href = issueWebUrl(services.baseUrl(), project.fullPath, issue.iid);
    return [[reference, link({ href, kind: 'issue', title: issue.title, text })]];
  });
}

export const issueReferences: ReferenceDefinition = { kind: 'issue', findInProjects: findIssues };
