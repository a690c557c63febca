/** The commit that a search in a repository reads. */
import type { AuthorizedProject } from '../../../kernel/access/find.ts';
import { found } from '../../../kernel/api/endpoint.ts';
import type { RepositoryKey } from '../../../kernel/repository-store.ts';
import { shortRef } from '../../../platform/git/names.ts';
import type { GitFolder } from '../../../platform/git/objects.ts';
import type { Commit } from '../../../platform/git/parse.ts';
import { findCommit, headRef } from '../../../platform/git/refs.ts';
import type { SearchRequest } from '../../search/index.ts';
import { asReadBy } from '../commits/queries.ts';

type Searched = { commit: Commit; ref: string };

/** The commit to search; undefined in an empty repository, 404 for a ref that names none. */
async function findSearched(git: GitFolder, ref: string | undefined): Promise<Searched | undefined> {
  if (ref) return { commit: found(await findCommit(git, ref), 'Commit'), ref };
  const commit = await findCommit(git, 'HEAD');
  const head = await headRef(git.folder);
  return commit && { commit, ref: shortRef(head)?.name ?? commit.oid };
}

/** Work on the commit; undefined where there is no repository, or no commit. */
export async function readCommit<T>(
  { services, ref }: SearchRequest,
  key: RepositoryKey,
  project: AuthorizedProject,
  work: (git: GitFolder, searched: Searched) => Promise<T>,
): Promise<T | undefined> {
  return services.repositories.read(key, project.row.repository_storage, async (git) => {
    const searched = await findSearched(asReadBy(git, project), ref);
    return searched && work(git, searched);
  });
}
