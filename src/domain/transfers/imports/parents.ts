/** Which epics are put inside of others. Pure. */

/** Epics are inside of each other so deep, as the API has it. */
const MAX_DEPTH = 7;

/**
 * The pairs of ids, of numbers by those of their parents: without circles, without those that are nowhere, and without what
 * would be too deep.
 */
export function parentsOf(
  inside: ReadonlyMap<number, number>,
  ids: ReadonlyMap<number, number> | undefined,
): { id: number; parent: number }[] {
  const depthOf = (iid: number): number => {
    let depth = 1;
    for (let at = inside.get(iid); at !== undefined && depth <= MAX_DEPTH; at = inside.get(at)) depth += 1;
    return depth;
  };
  return [...inside].flatMap(([iid, parentIid]) => {
    const id = ids?.get(iid);
    const parent = ids?.get(parentIid);
    return id === undefined || parent === undefined || id === parent || depthOf(iid) > MAX_DEPTH
      ? []
      : [{ id, parent }];
  });
}
