/** The order of what is ordered by hand: child epics, and the issues of an epic. Pure. */
import { notFound } from '../../platform/failure.ts';

/** Where something is to stand: behind the one that goes before it, or in front of the one that comes after it. */
export type Move = { move_before_id?: number | undefined; move_after_id?: number | undefined };

/** What is moved in front of all others is this far from the next. */
const DISTANCE = 512;

/** A place in front of all that are there; the first is at zero. */
export const firstPosition = (first: number | null): number => (first === null ? 0 : first - DISTANCE);

/**
 * The ids in their new order, each with its place; only those whose place becomes another. 404 for a neighbour that is not
 * among them. Without a neighbour nothing moves.
 */
export function positionsAfterMove(
  siblings: readonly { id: number; relative_position: number }[],
  id: number,
  { move_before_id, move_after_id }: Move,
): { id: number; relative_position: number }[] {
  const neighbour = move_before_id ?? move_after_id;
  if (neighbour === undefined || neighbour === id) return [];
  const order = siblings.map((each) => each.id).filter((each) => each !== id);
  for (const each of [move_before_id, move_after_id])
    if (each !== undefined && !order.includes(each)) throw notFound();
  order.splice(order.indexOf(neighbour) + (move_before_id === undefined ? 0 : 1), 0, id);
  const before = new Map(siblings.map((each) => [each.id, each.relative_position]));
  return order
    .map((each, index) => ({ id: each, relative_position: index * DISTANCE }))
    .filter((each) => before.get(each.id) !== each.relative_position);
}
