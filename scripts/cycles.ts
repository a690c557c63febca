/** Cycles among arrows. Pure. */

export type Arrow = { from: string; to: string };

/** The arrows that lie in a cycle: from the end of each, arrows lead back to its beginning. */
export function arrowsInCycles(arrows: readonly Arrow[]): Arrow[] {
  const leaving = Map.groupBy(arrows, ({ from }) => from);
  const reachedFrom = (start: string): Set<string> => {
    const reached = new Set([start]);
    // A set gives what is added to it on the way.
    for (const each of reached) for (const { to } of leaving.get(each) ?? []) reached.add(to);
    return reached;
  };
  const reached = new Map(arrows.map(({ to }) => to).map((to) => [to, reachedFrom(to)]));
  return arrows.filter(({ from, to }) => reached.get(to)?.has(from));
}
