/** Rules of boards and the order of their lists. Pure. */
import type { Reach } from '../../kernel/access/resource-parents.ts';
import type { Tier } from '../../kernel/config.ts';
import { Failure, forbidden, invalid } from '../../platform/failure.ts';

const MAX_BOARDS = 100;
const MAX_LISTS = 100;
export const MAX_SCOPE_LABELS = 100;
export const MAX_WEIGHT = 9;

/** 400 for one board too many, and 403 for a group's second one below premium. */
export function requirePlaceForBoard(count: number, of: 'project' | 'group', tier: Tier): void {
  if (of === 'group' && tier === 'free' && count > 0)
    throw forbidden('A group has one board below the tier premium');
  if (count >= MAX_BOARDS) throw invalid({ base: [`Maximum number of boards (${MAX_BOARDS}) exceeded`] });
}

/** 400 for a name of nothing but space. */
export function requireName(name: string | undefined): void {
  if (name?.trim() === '') throw invalid({ name: ["can't be blank"] });
}

/** 400 for one list too many. */
export function requirePlaceForList(count: number): void {
  if (count >= MAX_LISTS) throw invalid({ base: [`Maximum number of lists (${MAX_LISTS}) exceeded`] });
}

/** What a list is of, in the words of refusals. */
const kinds = {
  label_id: 'Label',
  assignee_id: 'Assignee',
  milestone_id: 'Milestone',
  iteration_id: 'Iteration',
};
export type ListKind = keyof typeof kinds;

export const listNotFound = (kind: ListKind): Failure =>
  invalid({ error: [`${kind === 'assignee_id' ? 'User' : kinds[kind]} not found`] });

/** 400 for lists of what only higher tiers have. */
export function requireListTier(kind: ListKind, tier: Tier): void {
  if (kind === 'label_id' || tier !== 'free') return;
  throw invalid({ error: [`${kinds[kind]} lists not available with your current license`] });
}

/** The order of the lists when one of them is moved to the position; 400 for one beyond the last. */
export function reordered(ids: readonly number[], id: number, position: number): number[] {
  if (position >= ids.length) throw new Failure('bad_request', { error: ['List could not be moved!'] });
  return ids.filter((each) => each !== id).toSpliced(position, 0, id);
}

/** Whether a label or milestone belongs to what a board's parent still has around it. */
export const isWithin = (
  { projectId, ancestorIds }: Reach,
  row: { project_id: number | null; namespace_id: number | null },
): boolean =>
  row.namespace_id === null ? row.project_id === projectId : ancestorIds.includes(row.namespace_id);
