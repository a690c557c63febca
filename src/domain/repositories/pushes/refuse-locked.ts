/** Changes of files that others have locked, by pushes and by requests (facts: packages §4). */
import type { AuthorizedProject } from '../../../kernel/access/find.ts';
import type { Caller } from '../../../kernel/actor.ts';
import type { Db } from '../../../platform/db/database.ts';
import { changedAmong } from '../../../platform/git/history/changed-files.ts';
import { mergeBase, type ObjectFolder } from '../../../platform/git/history/history.ts';
import { fullRef, NO_OBJECT, shortRef } from '../../../platform/git/names.ts';
import { newMerges, pathsOfNewCommits } from '../../../platform/git/pushed/new-commits.ts';
import type { RefUpdate } from '../../../platform/git/write.ts';
import { lockRefusal, selectPathsOfOthers, TOO_MUCH_FOR_LOCKS } from '../../lfs/index.ts';

type Project = { id: number; row: Pick<AuthorizedProject['row'], 'default_branch'> };

/** Why the caller may not bring the commits of the updates; undefined where they change nothing that others have locked. */
export async function refuseLocked(
  db: Db,
  { place }: { place: ObjectFolder },
  { id, row }: Project,
  caller: Caller,
  updates: readonly RefUpdate[],
): Promise<string | undefined> {
  const heads = updates.filter(({ ref, after }) => after !== NO_OBJECT && shortRef(ref));
  if (heads.length === 0) return undefined;
  const users = caller ? [caller.id] : [];
  // A tag's commits are judged, too: once it has them, they are not new to a branch.
  const commits = heads.map(({ after }) => after);
  const { paths, isComplete } = await pathsOfNewCommits(place, commits);
  if (!isComplete) return TOO_MUCH_FOR_LOCKS;
  const refusal = await lockRefusal(db, id, users, paths);
  if (refusal !== undefined) return refusal;
  const locked = await selectPathsOfOthers(db, id, caller?.id);
  if (locked.length === 0) return undefined;
  const lost = [
    await lostByMerges(place, commits, locked),
    await lostByReset(
      place,
      heads.find(({ ref }) => ref === mainRef(row)),
      locked,
    ),
  ];
  if (lost.includes(undefined)) return TOO_MUCH_FOR_LOCKS;
  return lockRefusal(
    db,
    id,
    users,
    lost.flatMap((each) => each ?? []),
  );
}

const mainRef = ({ default_branch: name }: Project['row']): string | undefined =>
  name === null ? undefined : fullRef('branch', name);

/**
 * What new merges have of one side though the other one changed it: a change that is in neither's commits. Undefined where there are
 * too many of them.
 */
async function lostByMerges(
  place: ObjectFolder,
  heads: readonly string[],
  paths: readonly string[],
): Promise<string[] | undefined> {
  const merges = await newMerges(place, heads);
  if (!merges) return undefined;
  const sides = merges.flatMap(({ merge, parents }) => parents.map((from) => ({ from, to: merge, parents })));
  const unlike = await changedAmong(place, sides, paths);
  const lost = new Set<string>();
  for (const side of sides) {
    const changed = unlike.get(side);
    if (!changed?.size) continue;
    for (const other of side.parents.filter((parent) => parent !== side.from)) {
      const base = await mergeBase(place, [side.from, other]);
      if (base === undefined) continue;
      const own = { from: base, to: side.from };
      for (const path of (await changedAmong(place, [own], [...changed])).get(own) ?? []) lost.add(path);
    }
  }
  return [...lost];
}

/** What the default branch has otherwise when it is set to commits that do not contain what it was. */
async function lostByReset(
  place: ObjectFolder,
  update: RefUpdate | undefined,
  paths: readonly string[],
): Promise<string[]> {
  if (!update || update.before === NO_OBJECT) return [];
  const ends = { from: update.before, to: update.after };
  if ((await mergeBase(place, [ends.from, ends.to])) === ends.from) return [];
  return [...((await changedAmong(place, [ends], paths)).get(ends) ?? [])];
}
