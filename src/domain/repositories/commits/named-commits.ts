/** Commits that texts name by the beginnings of their ids. */
import type { AuthorizedProject } from '../../../kernel/access/find.ts';
import type { Needs } from '../../../kernel/services.ts';
import type { GitFolder } from '../../../platform/git/objects.ts';
import type { Commit } from '../../../platform/git/parse.ts';
import { findCommit } from '../../../platform/git/refs.ts';
import { readRepository } from './queries.ts';

/** Repositories opened for one text, and ids looked up in each. */
const MAX_PROJECTS = 5;
const MAX_COMMITS = 50;

type Placed<Named> = { project: AuthorizedProject; named: Named };

/** The existing ones, in projects whose code the reader reads. */
export async function findNamedCommits<Named extends { name: string }>(
  services: Needs<'repositories'>,
  placed: readonly Placed<Named>[],
): Promise<(Placed<Named> & { commit: Commit })[]> {
  const readable = placed.filter(({ project }) => project.may('read_code') && !project.row.empty_repo);
  const byProject = [...Map.groupBy(readable, ({ project }) => project.id).values()].slice(0, MAX_PROJECTS);
  const find = async (git: GitFolder, each: Placed<Named>) => {
    const commit = await findCommit(git, each.named.name);
    // A branch may have a name like the beginning of an id.
    return commit?.oid.startsWith(each.named.name) ? [{ ...each, commit }] : [];
  };
  const found = await Promise.all(
    byProject.map(async (all) => {
      const [first] = all;
      const read = (git: GitFolder) => Promise.all(all.slice(0, MAX_COMMITS).map((each) => find(git, each)));
      return first ? ((await readRepository(services, first.project, read)) ?? []) : [];
    }),
  );
  return found.flat(2);
}
