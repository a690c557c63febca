/** Merges between branches of a project, and from its forks: what others have locked, and the objects that come with them. */
import type { Db } from '../../platform/db/database.ts';
import { changedAmong } from '../../platform/git/history/changed-files.ts';
import { mergeBase } from '../../platform/git/history/history.ts';
import type { GitFolder } from '../../platform/git/objects.ts';
import { selectPathsOfOthers } from './locks/queries.ts';
import { linkObjects } from './objects/actions.ts';
import { hasObjects } from './objects/queries.ts';
import { pointersBetween } from './pointers/read-pointers.ts';

/** Commits of a source that go into a target. */
export type Merge = { projectId: number; target: string; source: string };

/** Whether others than the author have locked what the source changes. For projects in which paths are locked. */
export async function changesLocked(
  db: Db,
  git: GitFolder,
  { projectId, target, source }: Merge,
  authorId: number,
): Promise<boolean> {
  const base = await mergeBase(git, [target, source]);
  if (base === undefined) return false;
  const paths = await selectPathsOfOthers(db, projectId, authorId);
  const changed = await changedAmong(git, [{ from: base, to: source }], paths);
  return [...changed.values()].some(({ size }) => size > 0);
}

/** Gives the project those objects of the fork to which files of the source point, before it is merged. */
export async function linkMerged(
  db: Db,
  git: GitFolder,
  { projectId, target, source }: Merge,
  forkId: number | null,
): Promise<void> {
  if (forkId === null || forkId === projectId || !(await hasObjects(db, forkId))) return;
  const oids = (await pointersBetween(git, target, source)).map(({ oid }) => oid);
  if (oids.length > 0) await linkObjects(db, { from: forkId, to: projectId }, oids);
}
