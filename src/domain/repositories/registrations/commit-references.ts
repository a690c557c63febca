/** References to commits in texts: an id, or the beginning of one. */

import { findCommit } from '../../../platform/git/refs.ts';
import {
  type Link,
  link,
  type ProjectReference,
  projectPrefix,
  type ReferenceDefinition,
  type RenderContext,
} from '../../markdown/index.ts';
import { projectRepository } from '../store/containers.ts';

/** Repositories opened for one text, and ids looked up in each. */
const MAX_PROJECTS = 5;
const MAX_COMMITS = 50;
const SHORT = 8;

/** The existing commits, in projects whose code the reader reads. */
async function findCommits(context: RenderContext, references: readonly ProjectReference[]): Promise<Link[]> {
  const readable = references.filter(({ project }) => project.may('read_code') && !project.row.empty_repo);
  const byProject = [...Map.groupBy(readable, ({ project }) => project.id).values()].slice(0, MAX_PROJECTS);
  const found = await Promise.all(
    byProject.map((each) => findInProject(context, each.slice(0, MAX_COMMITS))),
  );
  return found.flat();
}

async function findInProject(
  context: RenderContext,
  references: readonly ProjectReference[],
): Promise<Link[]> {
  const [first] = references;
  if (!first) return [];
  const { services } = context;
  const { project } = first;
  const key = projectRepository(project.id);
  const links = await services.repositories.read(key, project.row.repository_storage, (git) =>
    Promise.all(
      references.map(async ({ reference }): Promise<Link[]> => {
        const commit = await findCommit(git, reference.name);
        // A branch may have a name like the beginning of an id.
        if (!commit?.oid.startsWith(reference.name)) return [];
        const prefix = projectPrefix(project, context);
        const text = `${prefix === '' ? '' : `${prefix}@`}${commit.oid.slice(0, SHORT)}`;
        const href = `${services.baseUrl()}/${project.fullPath}/-/commit/${commit.oid}`;
        const [title = ''] = commit.message.split('\n', 1);
        return [[reference, link({ href, kind: 'commit', title, text })]];
      }),
    ),
  );
  return links?.flat() ?? [];
}

export const commitReferences: ReferenceDefinition = { kind: 'commit', findInProjects: findCommits };
