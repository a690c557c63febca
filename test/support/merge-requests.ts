/** Projects with branches, and merge requests between them, over the API. */
import type { Called, Site, TestApp } from './app.ts';
import { bodyOf, type MadeProject, makeProject } from './factories.ts';

/** Commits files to a branch, which begins at `start` where it is new; the commit's id. */
export async function commitTo(
  site: Pick<Site, 'root'>,
  projectId: number,
  branch: string,
  files: Readonly<Record<string, string | null>>,
  { start = 'main', message = `Change ${branch}` }: { start?: string; message?: string } = {},
): Promise<string> {
  const path = `/projects/${projectId}/repository`;
  const known = await site.root(`GET ${path}/branches/${encodeURIComponent(branch)}`);
  const isThere = async (file: string) =>
    (
      await site.root(`HEAD ${path}/files/${encodeURIComponent(file)}`, {
        query: `ref=${encodeURIComponent(known.status === 200 ? branch : start)}`,
      })
    ).status === 200;
  const actions = await Promise.all(
    Object.entries(files).map(async ([file_path, content]) => ({
      action: content === null ? 'delete' : (await isThere(file_path)) ? 'update' : 'create',
      file_path,
      content: content ?? undefined,
    })),
  );
  const body = {
    branch,
    ...(known.status !== 200 && branch !== 'main' && { start_branch: start }),
    commit_message: message,
    actions,
  };
  return bodyOf(await site.root(`POST ${path}/commits`, { body }), 201).id;
}

/** A project whose `main` has a file. */
export async function makeReviewedProject(
  app: TestApp,
  attributes: Record<string, unknown> = {},
): Promise<MadeProject> {
  const project = await makeProject(app, attributes);
  await commitTo(app, project.id, 'main', { 'a.txt': 'one\n' }, { message: 'First' });
  return project;
}

/** The record of a new merge request of root's, from a branch that adds a file to main; `attributes` as of the POST. */
export async function makeMergeRequest(
  app: Pick<Site, 'root'>,
  projectId: number,
  branch: string,
  attributes: Record<string, unknown> = {},
): Promise<Called['body']> {
  await commitTo(app, projectId, branch, { [`${branch}.txt`]: `${branch}\n` });
  const body = { title: `Merge ${branch}`, source_branch: branch, target_branch: 'main', ...attributes };
  return bodyOf(await app.root(`POST /projects/${projectId}/merge_requests`, { body }), 201);
}
