/** The commit by which a branch got others (facts: On a branch push). Pure. */
import type { CommitLinks } from '../../../platform/git/history/history.ts';

/**
 * The commit of the branch's own line, that of first parents, which brought the commit: itself where it is on that line, else
 * the oldest that has it. `pushed` begins with the branch's head; undefined where the commit is none of them.
 */
export function mergeCommitOf(pushed: readonly CommitLinks[], oid: string): string | undefined {
  const parentsOf = new Map(pushed.map((commit) => [commit.oid, commit.parents]));
  const line: CommitLinks[] = [];
  for (let next = pushed[0]?.oid; next !== undefined; ) {
    const parents = parentsOf.get(next);
    if (!parents) break;
    line.push({ oid: next, parents });
    next = parents[0];
  }
  if (line.some((commit) => commit.oid === oid)) return oid;
  const seen = new Set<string>();
  for (const { oid: merge, parents } of line.toReversed()) {
    const left = parents.slice(1);
    for (let next = left.pop(); next !== undefined; next = left.pop()) {
      if (next === oid) return merge;
      if (seen.has(next)) continue;
      seen.add(next);
      left.push(...(parentsOf.get(next) ?? []));
    }
  }
  return undefined;
}
