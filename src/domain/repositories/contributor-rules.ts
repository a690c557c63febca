/** The order of contributors. Pure. */
import type { Contributor } from '../../platform/git/history/contributors.ts';

type Key = 'email' | 'name' | 'commits';

const compare = (left: Contributor, right: Contributor, key: Key): number =>
  key === 'commits' ? left.commits - right.commits : left[key].localeCompare(right[key], 'en');

/**
 * By a property and, between equals, by address: in that direction, so that pages neither repeat nor lose a
 * contributor.
 */
export const orderContributors = (
  contributors: readonly Contributor[],
  key: Key,
  sort: 'asc' | 'desc',
): Contributor[] => {
  const direction = sort === 'asc' ? 1 : -1;
  return contributors.toSorted(
    (left, right) => direction * (compare(left, right, key) || (left.email < right.email ? -1 : 1)),
  );
};
