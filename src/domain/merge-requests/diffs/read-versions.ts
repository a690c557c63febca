/** Reads what versions of merge requests change, from the target's repository. */
import type { AuthorizedProject } from '../../../kernel/access/find.ts';
import type { Needs } from '../../../kernel/services.ts';
import { readDiff } from '../../../platform/git/history/diff.ts';
import type { DiffEnds } from '../../../platform/git/history/diff-runs.ts';
import { commitsBetween, readShownCommits } from '../../../platform/git/history/history.ts';
import type { Diff, DiffOptions } from '../../../platform/git/history/parse-diff.ts';
import type { Commit } from '../../../platform/git/parse.ts';
import { GitError } from '../../../platform/git/program/program.ts';
import { arrivingDiff, readRepository } from '../../repositories/index.ts';
import type { VersionRow } from '../records/merge-request-rows.ts';

/** What the version compares; undefined where there is nothing to compare. */
export const endsOf = (version: VersionRow | undefined): DiffEnds | undefined =>
  version && version.base_sha !== version.head_sha
    ? { from: version.base_sha, to: version.head_sha }
    : undefined;

/** Without a version there is no difference. 422 where there is too much of it even to list the files. */
export async function readVersionDiff(
  services: Needs<'repositories'>,
  project: AuthorizedProject,
  version: VersionRow | undefined,
  options: DiffOptions,
): Promise<Diff> {
  const ends = endsOf(version);
  const diff = ends && (await readRepository(services, project, (git) => readDiff(git, ends, options)));
  return diff ?? { files: [], total: 0, overflow: false };
}

/** The same while git makes it. */
export const arrivingVersionDiff = (
  services: Needs<'repositories'>,
  project: AuthorizedProject,
  version: VersionRow | undefined,
  options: Omit<DiffOptions, 'give'>,
) => arrivingDiff(({ give }) => readVersionDiff(services, project, version, { ...options, give }));

/** Commits of a version that are shown with it. */
const MAX_COMMITS = 5_000;

/** The commits that the source had and the target had not, newest first; 422 where their messages are too long. */
export async function readVersionCommits(
  services: Needs<'repositories'>,
  project: AuthorizedProject,
  version: VersionRow,
): Promise<Commit[]> {
  const ends = endsOf(version);
  if (!ends) return [];
  const commits = await readRepository(services, project, async (git) => {
    const after = (start: string) => commitsBetween(git, git, start, ends.to, MAX_COMMITS);
    try {
      return await after(version.start_sha);
    } catch (error) {
      // Nothing keeps what the target was, once it is pushed over.
      if (error instanceof GitError) return after(ends.from);
      throw error;
    }
  });
  return commits?.reverse() ?? [];
}

/** The commits of these ids that are there; 422 where their messages are too long. */
export const readCommits = async (
  services: Needs<'repositories'>,
  project: AuthorizedProject,
  ids: readonly string[],
): Promise<Commit[]> => (await readRepository(services, project, (git) => readShownCommits(git, ids))) ?? [];
