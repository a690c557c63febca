/** Wikis for tests: of new projects and groups, filled through the API or as a push would. */

import { groupWiki, projectWiki } from '../../src/domain/repositories/store/containers.ts';
import type { RepositoryKey } from '../../src/kernel/repository-store.ts';
import { git } from '../../src/platform/git/program/program.ts';
import type { Call, Called, TestApp } from './app.ts';
import { bodyOf, makeGroup, makeProject } from './factories.ts';
import { importStream } from './repositories.ts';

export type WikiParent = {
  /** Of the container. */
  id: number;
  /** The path of the wiki's endpoints. */
  wikis: string;
  key: RepositoryKey;
};

export async function projectWikiParent(
  app: TestApp,
  attributes: Record<string, unknown> = {},
): Promise<WikiParent> {
  const { id } = await makeProject(app, attributes);
  return { id, wikis: `/projects/${id}/wikis`, key: projectWiki(id) };
}

export async function groupWikiParent(app: TestApp): Promise<WikiParent> {
  const { id } = await makeGroup(app);
  return { id, wikis: `/groups/${id}/wikis`, key: groupWiki(id) };
}

/** Files on the branch, without a record in the database. */
export const pushPages = (
  app: TestApp,
  { key }: WikiParent,
  files: Record<string, string>,
): Promise<unknown> =>
  app.app.services.repositories.write(key, 'main', ({ folder }) =>
    git(['fast-import', '--quiet', '--force'], { folder, input: importStream([files]) }),
  );

/** The response to root's, or another user's, new page. */
export const createPage = async (
  app: TestApp,
  { wikis }: WikiParent,
  body: Record<string, unknown>,
  status = 201,
  call: Call = app.root,
): Promise<Called['body']> => bodyOf(await call(`POST ${wikis}`, { body }), status);

export const slugsOf = async (app: TestApp, { wikis }: WikiParent): Promise<string[]> =>
  bodyOf(await app.root(`GET ${wikis}`), 200).map(({ slug }: { slug: string }) => slug);
