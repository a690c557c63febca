/** Changes of files that others have locked, by pushes and by requests (facts: packages §4). */
import type { Caller } from '../../../kernel/actor.ts';
import type { Db } from '../../../platform/db/database.ts';
import { pathsOfNewCommits } from '../../../platform/git/history/changed-files.ts';
import type { ObjectFolder } from '../../../platform/git/history/history.ts';
import { NO_OBJECT, shortRef } from '../../../platform/git/names.ts';
import type { RefUpdate } from '../../../platform/git/write.ts';
import { lockRefusal, TOO_MUCH_FOR_LOCKS } from '../../lfs/index.ts';

/** Why the caller may not bring the commits of the updates; undefined where they change nothing that others have locked. */
export async function refuseLocked(
  db: Db,
  { place }: { place: ObjectFolder },
  { id }: { id: number },
  caller: Caller,
  updates: readonly RefUpdate[],
): Promise<string | undefined> {
  const heads = updates.filter(({ ref, after }) => after !== NO_OBJECT && shortRef(ref));
  if (heads.length === 0) return undefined;
  // A tag's commits are judged, too: once it has them, they are not new to a branch.
  const { paths, isComplete } = await pathsOfNewCommits(
    place,
    heads.map(({ after }) => after),
  );
  return isComplete ? lockRefusal(db, id, caller ? [caller.id] : [], paths) : TOO_MUCH_FOR_LOCKS;
}
