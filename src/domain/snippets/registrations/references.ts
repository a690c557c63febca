/** References to snippets of projects in texts: `$1`. */
import {
  type Link,
  link,
  type ProjectReference,
  projectPrefix,
  type ReferenceDefinition,
  type RenderContext,
} from '../../markdown/index.ts';
import { selectReferenced } from '../queries.ts';
import { seesInProject } from '../snippet-policy.ts';

async function findSnippets(
  context: RenderContext,
  references: readonly ProjectReference[],
): Promise<Link[]> {
  const { services, reader } = context;
  const readable = references.filter(({ project }) => project.may('read_project_snippets'));
  if (readable.length === 0) return [];
  const projectIds = readable.map(({ project }) => project.id);
  const ids = readable.map(({ reference }) => Number(reference.name));
  const rows = await selectReferenced(services.database.db, projectIds, ids);
  return readable.flatMap(({ project, reference }): Link[] => {
    const snippet = rows.find((row) => row.project_id === project.id && row.id === Number(reference.name));
    if (!snippet || !seesInProject(reader, snippet, project.role)) return [];
    const text = reference.address ? `${projectPrefix(project, context)}$${snippet.id}` : reference.text;
    const href = `${services.baseUrl()}/${project.fullPath}/-/snippets/${snippet.id}`;
    return [[reference, link({ href, kind: 'snippet', title: snippet.title, text })]];
  });
}

export const snippetReferences: ReferenceDefinition = { kind: 'snippet', findInProjects: findSnippets };
