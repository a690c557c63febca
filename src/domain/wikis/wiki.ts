/**
 * A wiki with its owner. The differences between those of projects and those of groups are here, and nowhere
 * else.
 */

import type { AuthorizedGroup, AuthorizedProject } from '../../kernel/access/find.ts';
import type { RepositoryKey } from '../../kernel/repository-store.ts';
import type { Needs } from '../../kernel/services.ts';
import type { ApplicationSettings } from '../../kernel/settings/definitions.ts';
import type { Db } from '../../platform/db/database.ts';
import type { GitFolder } from '../../platform/git/objects.ts';
import type { Commit } from '../../platform/git/parse.ts';
import { findCommit } from '../../platform/git/refs.ts';
import { groupWiki, projectWiki } from '../repositories/index.ts';
import { ensureGroupWikiStorage, selectGroupWiki } from './group-wiki-actions.ts';

export type Wiki = {
  key: RepositoryKey;
  /** The column of wiki_pages that names the owner. */
  owner: 'project_id' | 'group_id';
  id: number;
  /** The repository's storage; undefined while the group has none. */
  storage: string | undefined;
  /** Assigns a storage where the wiki has none yet; before every write. */
  ensureStorage(services: Needs<'database' | 'repositories'>, settings: ApplicationSettings): Promise<void>;
};

/** The wiki of a project, in the storage of the project's own repository. */
export const wikiOfProject = async (_db: Db, { id, row }: AuthorizedProject): Promise<Wiki> => ({
  key: projectWiki(id),
  owner: 'project_id',
  id,
  storage: row.repository_storage,
  ensureStorage: async () => {},
});

/** The wiki of a group, which gets a storage by the weights of the instance with its first page. */
export async function wikiOfGroup(db: Db, { id }: AuthorizedGroup): Promise<Wiki> {
  const row = await selectGroupWiki(db, id);
  return {
    key: groupWiki(id),
    owner: 'group_id',
    id,
    storage: row?.repository_storage,
    ensureStorage: async (services, settings) => {
      if (!row) await ensureGroupWikiStorage(services, settings, id);
    },
  };
}

/** Reads at a commit of the wiki; undefined where there is no repository, or no such commit. */
export const readWiki = <T>(
  { repositories }: Needs<'repositories'>,
  { key, storage }: Wiki,
  revision: string,
  work: (git: GitFolder, commit: Commit) => Promise<T>,
): Promise<T | undefined> =>
  storage === undefined
    ? Promise.resolve(undefined)
    : repositories.read(key, storage, async (git) => {
        const commit = await findCommit(git, revision);
        return commit && work(git, commit);
      });
