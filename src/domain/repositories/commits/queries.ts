/** Reads commits of a project's repository, and their changes. */
import type { AuthorizedProject } from '../../../kernel/access/find.ts';
import { found } from '../../../kernel/api/endpoint.ts';
import type { Needs } from '../../../kernel/services.ts';
import { countLines, EMPTY_TREE, type LineCounts } from '../../../platform/git/history/diff.ts';
import type { DiffEnds } from '../../../platform/git/history/diff-runs.ts';
import type { GitFolder } from '../../../platform/git/objects.ts';
import type { Commit } from '../../../platform/git/parse.ts';
import { FETCHED_REFS } from '../../../platform/git/program/program.ts';
import { findCommit, peelToCommit } from '../../../platform/git/refs.ts';
import { projectRepository } from '../store/containers.ts';

/** The repository with the refs that the caller may know. */
export const asReadBy = (git: GitFolder, project: AuthorizedProject): GitFolder =>
  project.may('read_merge_requests') ? git : { ...git, hiddenRefs: FETCHED_REFS };

/** Work in the project's repository; undefined when it has none. */
export const readRepository = <T>(
  { repositories }: Needs<'repositories'>,
  project: AuthorizedProject,
  work: (git: GitFolder) => Promise<T>,
): Promise<T | undefined> =>
  repositories.read(projectRepository(project.id), project.row.repository_storage, (git) =>
    work(asReadBy(git, project)),
  );

/** Work on the commit that a revision names; `404 Commit Not Found` when it names none. */
export async function readCommit<T>(
  services: Needs<'repositories'>,
  project: AuthorizedProject,
  revision: string,
  work: (git: GitFolder, commit: Commit) => Promise<T>,
): Promise<T> {
  const read = await readRepository(services, project, async (git) => ({
    value: await work(git, found(await findCommit(git, revision), 'Commit')),
  }));
  return found(read, 'Commit').value;
}

/** The trees before and after a commit; a merge is compared with its first parent, a first commit with nothing. */
export async function changeOf(git: GitFolder, commit: Commit): Promise<DiffEnds> {
  const [first] = commit.parents;
  const parent = first === undefined ? undefined : await peelToCommit(git, first);
  return { from: parent?.tree ?? EMPTY_TREE, to: commit.tree };
}

/** The lines that each commit changes, by one run of git. */
export const statsOf = async (git: GitFolder, commits: readonly Commit[]): Promise<LineCounts[]> =>
  countLines(git, await Promise.all(commits.map((commit) => changeOf(git, commit))));
