/** Which commits of a range a changelog has, by the values of their trailers. Pure. */
import { titleOf } from '../../platform/git/commit-texts.ts';
import type { Commit } from '../../platform/git/parse.ts';
import { trailersOf } from '../repositories/index.ts';

export type Change = { commit: Commit; title: string; category: string; trailers: Record<string, string[]> };

/** Characters of a message in which the id of a reverted commit is looked for. */
const MAX_LOOKED_AT = 65_536;
const reverts = /This reverts commit ([0-9a-f]{40}(?:[0-9a-f]{24})?)/g;

const revertedBy = ({ message }: Commit): string[] =>
  [...message.slice(0, MAX_LOOKED_AT).matchAll(reverts)].map(([, sha = '']) => sha);

/**
 * The changes among the commits, which come newest first. One that a later commit reverts is none, unless that is reverted,
 * too.
 */
export function changesOf(commits: readonly Commit[], trailer: string): Change[] {
  const reverted = new Set<string>();
  const changes: Change[] = [];
  for (const commit of commits) {
    if (reverted.has(commit.oid)) continue;
    for (const sha of revertedBy(commit)) reverted.add(sha);
    const trailers = trailersOf(commit.message);
    const [category] = Object.hasOwn(trailers, trailer) ? (trailers[trailer] ?? []) : [];
    if (category) changes.push({ commit, title: titleOf(commit.message), category, trailers });
  }
  return changes;
}

/** The changes of each category, in the order of their first ones. */
export const byCategory = (
  changes: readonly Change[],
  titles: ReadonlyMap<string, string>,
): Map<string, Change[]> => Map.groupBy(changes, ({ category }) => titles.get(category) ?? category);
