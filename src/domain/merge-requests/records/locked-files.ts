/** Which merge requests change what others have locked in Git LFS: git is asked where there are such locks, once for a project. */
import type { Needs } from '../../../kernel/services.ts';
import { changedAmong } from '../../../platform/git/history/changed-files.ts';
import { projectRepository } from '../../repositories/index.ts';
import type { LockableMerge, LockOfProject } from './locked-file-queries.ts';

/** Of one project. */
async function changingIn(
  repositories: Needs<'repositories'>['repositories'],
  merges: readonly [LockableMerge, ...LockableMerge[]],
  locks: readonly LockOfProject[],
): Promise<LockableMerge[]> {
  const [{ project_id, repository_storage }] = merges;
  const ends = new Map(merges.map((merge) => [{ from: merge.base_sha, to: merge.head_sha }, merge]));
  const paths = locks.map(({ path }) => path);
  const changed = await repositories.read(projectRepository(project_id), repository_storage, (git) =>
    changedAmong(git, [...ends.keys()], paths),
  );
  return [...ends].flatMap(([pair, merge]) => {
    const touched = changed?.get(pair);
    const isHeld = locks.some(({ path, user_id }) => user_id !== merge.author_id && touched?.has(path));
    return isHeld ? [merge] : [];
  });
}

export async function findChangingLocked(
  repositories: Needs<'repositories'>['repositories'],
  merges: readonly LockableMerge[],
  locks: readonly LockOfProject[],
): Promise<ReadonlySet<number>> {
  const found = new Set<number>();
  const locksOf = Map.groupBy(locks, ({ project_id }) => project_id);
  for (const [projectId, [first, ...others]] of Map.groupBy(merges, ({ project_id }) => project_id))
    if (first)
      for (const { id } of await changingIn(repositories, [first, ...others], locksOf.get(projectId) ?? []))
        found.add(id);
  return found;
}
