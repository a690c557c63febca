/** The commits of releases: what their tags name now, else what they named at first. */
import type { AuthorizedProject } from '../../kernel/access/find.ts';
import type { Needs } from '../../kernel/services.ts';
import { lengthOfCommit, readShown } from '../../platform/git/history/history.ts';
import { fullRef } from '../../platform/git/names.ts';
import type { GitFolder } from '../../platform/git/objects.ts';
import type { Commit } from '../../platform/git/parse.ts';
import { peelToCommit, readRef } from '../../platform/git/refs.ts';
import { readRepository } from '../repositories/index.ts';
import type { ReleaseRow } from './release-row.ts';

/** A tag, with its commit where it has one; undefined without the tag. */
export const readTag = (
  services: Needs<'repositories'>,
  project: AuthorizedProject,
  tag: string,
): Promise<{ commit: Commit | undefined } | undefined> =>
  readRepository(services, project, async (git) => {
    const oid = await readRef(git, fullRef('tag', tag));
    return oid === undefined ? undefined : { commit: await peelToCommit(git, oid) };
  });

export async function commitOf(
  git: GitFolder,
  { tag, sha }: Pick<ReleaseRow, 'tag' | 'sha'>,
): Promise<Commit | undefined> {
  const oid = (await readRef(git, fullRef('tag', tag))) ?? sha;
  return oid === null ? undefined : peelToCommit(git, oid);
}

/** By the id of the release, those that are there; 422 where their messages are too long for one response. */
export async function readTaggedCommits(
  services: Needs<'repositories'>,
  project: AuthorizedProject,
  rows: readonly ReleaseRow[],
): Promise<ReadonlyMap<number, Commit>> {
  const read = await readRepository(services, project, (git) =>
    readShown(
      rows,
      async (row): Promise<[number, Commit] | undefined> => {
        const commit = await commitOf(git, row);
        return commit && [row.id, commit];
      },
      ([, commit]) => lengthOfCommit(commit),
    ),
  );
  return new Map(read ?? []);
}
