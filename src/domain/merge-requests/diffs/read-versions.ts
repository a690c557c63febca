/** Reads what versions of merge requests change, from the target's repository. */
import type { AuthorizedProject } from '../../../kernel/access/find.ts';
import type { Needs } from '../../../kernel/services.ts';
import { arriving } from '../../../platform/arriving.ts';
import { readDiff } from '../../../platform/git/history/diff.ts';
import type { DiffEnds } from '../../../platform/git/history/diff-runs.ts';
import { areShort, commitIdsBetween, readShownCommits } from '../../../platform/git/history/history.ts';
import type { Diff, DiffOptions } from '../../../platform/git/history/parse-diff.ts';
import type { GitFolder } from '../../../platform/git/objects.ts';
import type { Commit } from '../../../platform/git/parse.ts';
import { GitError } from '../../../platform/git/program/program.ts';
import { mapInTurns } from '../../../platform/turns.ts';
import { arrivingDiff, readRepository } from '../../repositories/index.ts';
import type { VersionRow } from '../records/merge-request-rows.ts';
import { MAX_VERSION_COMMITS, type VersionWithCommits } from './version-queries.ts';

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

/** Those that are read before the first of them is sent. */
const AT_ONCE = 200;

/** Ids of the commits that the source had and the target had not, newest first; git looks for those of an older version. */
async function commitIdsOf(git: GitFolder, version: VersionWithCommits): Promise<string[]> {
  const ends = endsOf(version);
  if (!ends) return [];
  if (version.commits.length > 0) return version.commits;
  const after = (start: string) => commitIdsBetween(git, start, ends.to, MAX_VERSION_COMMITS);
  try {
    return await after(version.start_sha);
  } catch (error) {
    // Nothing keeps what the target was, once it is pushed over.
    if (error instanceof GitError) return after(ends.from);
    throw error;
  }
}

/** Their records, of many while they are read; 422 where their messages are too long. */
export async function arrivingVersionCommits<Record>(
  services: Needs<'repositories'>,
  project: AuthorizedProject,
  version: VersionWithCommits,
  present: (commit: Commit) => Record,
): Promise<Record[] | AsyncIterable<Record>> {
  const { ids, isShort } = (await readRepository(services, project, async (git) => {
    const ids = await commitIdsOf(git, version);
    return { ids, isShort: ids.length > AT_ONCE && (await areShort(git, ids)) };
  })) ?? { ids: [], isShort: false };
  const read = async (some: readonly string[]) =>
    mapInTurns(await readCommits(services, project, some), present);
  if (!isShort) return read(ids);
  return arriving(async (give) => {
    for (let at = 0; at < ids.length; at += AT_ONCE)
      for (const record of await read(ids.slice(at, at + AT_ONCE))) give(record);
  });
}

/** The commits of these ids that are there; 422 where their messages are too long. */
export const readCommits = async (
  services: Needs<'repositories'>,
  project: AuthorizedProject,
  ids: readonly string[],
): Promise<Commit[]> => (await readRepository(services, project, (git) => readShownCommits(git, ids))) ?? [];
