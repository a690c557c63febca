/** References to commits in texts: an id, or the beginning of one. */

import {
  type Link,
  link,
  type ProjectReference,
  projectPrefix,
  type ReferenceDefinition,
  type RenderContext,
} from '../../markdown/index.ts';
import { findNamedCommits } from '../commits/named-commits.ts';

const SHORT = 8;

/** The existing commits, in projects whose code the reader reads. */
async function findCommits(context: RenderContext, references: readonly ProjectReference[]): Promise<Link[]> {
  const { services } = context;
  const placed = references.map(({ reference, project }) => ({ project, named: reference }));
  const found = await findNamedCommits(services, placed);
  return found.map(({ project, named: reference, commit }): Link => {
    const prefix = projectPrefix(project, context);
    const text = `${prefix === '' ? '' : `${prefix}@`}${commit.oid.slice(0, SHORT)}`;
    const href = `${services.baseUrl()}/${project.fullPath}/-/commit/${commit.oid}`;
    const [title = ''] = commit.message.split('\n', 1);
    return [reference, link({ href, kind: 'commit', title, text })];
  });
}

export const commitReferences: ReferenceDefinition = { kind: 'commit', findInProjects: findCommits };
