/** Manual order of child epics and of the issues of an epic. Pure. */
import { notFound } from '../../../../platform/failure.ts';

/** The neighbour that the item comes after (`move_before_id`) or before (`move_after_id`). */
export type Move = { move_before_id?: number | undefined; move_after_id?: number | undefined };

/** The gap between a new first item and the next. */
const DISTANCE = 512;

/** The position in front of all others; the first item is at 0. */
export const firstPosition = (first: number | null): number => (first === null ? 0 : first - DISTANCE);

/**
 * The ids whose positions change, with the new ones. 404 for a neighbour that is not among them. Without a
 * neighbour nothing moves.
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
