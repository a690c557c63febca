/** Reads a project's repository for a page: the file or folder of an address behind tree, blob or raw. */
import { type AuthorizedProject, authorizeProject } from '../../../kernel/access/find.ts';
import { notFound } from '../../../platform/failure.ts';
import type { GitFolder } from '../../../platform/git/objects.ts';
import type { Commit, TreeEntry } from '../../../platform/git/parse.ts';
import { findCommit } from '../../../platform/git/refs.ts';
import { findEntry } from '../../../platform/git/trees.ts';
import { readRepository } from '../../repositories/index.ts';
import { projectOf } from '../view/parents.ts';
import type { ViewContext } from '../view/view-context.ts';

/** The project before the dash, for readers of its code. */
export async function codeOf(view: ViewContext): Promise<AuthorizedProject> {
  const { id } = await projectOf(view);
  return authorizeProject(view.services.database.points, view.caller, 'read_code', id);
}

/** Reads from the repository; 404 when there is none yet. */
export async function reading<T>(
  { services }: Pick<ViewContext, 'services'>,
  project: AuthorizedProject,
  read: (git: GitFolder) => Promise<T>,
): Promise<T> {
  const value = await readRepository(services, project, read);
  if (value === undefined) throw notFound('Repository');
  return value;
}

/** A revision, and a path in its tree. */
export type Spot = { ref: string; path: string[]; commit: Commit; entry: TreeEntry };

/** Components of an address that may belong to the name of a branch. */
const MAX_PARTS = 16;

/**
 * The spot that `branch/with/slashes/and/path` names: the first beginning that is a revision with such a path. A tag, or the
 * beginning of an id, may be a folder of a branch's name.
 */
export async function findSpot(git: GitFolder, address: string): Promise<Spot> {
  let missing = notFound('Commit');
  const parts = address.split('/').filter((part) => part !== '');
  for (let length = 1; length <= Math.min(parts.length, MAX_PARTS); length++) {
    const ref = parts.slice(0, length).join('/');
    const commit = await findCommit(git, ref);
    if (!commit) continue;
    const path = parts.slice(length);
    const entry = await findEntry(git, commit.tree, path);
    if (entry) return { ref, path, commit, entry };
    missing = notFound('File');
  }
  throw missing;
}
