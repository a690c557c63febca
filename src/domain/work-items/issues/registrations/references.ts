/** References to issues in texts: `#1`. */
import { sql } from 'kysely';
import {
  type Link,
  link,
  type ProjectReference,
  projectPrefix,
  type ReferenceDefinition,
  type RenderContext,
} from '../../../markdown/index.ts';
import { type IssueRow, issueWebUrl } from '../records/issue-rows.ts';
import { seesIssue } from '../records/issue-visibility.ts';

async function findIssues(context: RenderContext, references: readonly ProjectReference[]): Promise<Link[]> {
  const { services, reader } = context;
  const readable = references.filter(({ project }) => project.may('read_issues'));
  if (readable.length === 0) return [];
  const projectIds = readable.map(({ project }) => project.id);
  const numbers = readable.map(({ reference }) => Number(reference.name));
  const { rows } = await sql<
    Pick<IssueRow, 'project_id' | 'iid' | 'title' | 'state' | 'confidential' | 'author_id'> & {
      assigned: boolean;
    }
  >`
    select project_id, iid, title, state, confidential, author_id, exists (
      select from issue_assignees a where a.issue_id = issues.id and a.user_id = ${reader?.id ?? 0}) as assigned
    from issues where (project_id, iid) in (
      select * from unnest(${projectIds}::bigint[], ${numbers}::bigint[]))`.execute(services.database.db);
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
