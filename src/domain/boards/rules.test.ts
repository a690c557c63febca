/** Rules of boards and the order of their lists. */
import { describe, expect, test } from 'vitest';
import { isWithin, reordered, requireListTier, requirePlaceForBoard, requirePlaceForList } from './rules.ts';

test.each([
  [1, 0, [1, 2, 3]],
  [1, 1, [2, 1, 3]],
  [1, 2, [2, 3, 1]],
  [3, 0, [3, 1, 2]],
  [2, 2, [1, 3, 2]],
])('list %d moves to %d: %j', (id, position, order) => {
  expect(reordered([1, 2, 3], id, position)).toEqual(order);
});

test('no list moves beyond the last', () => {
  expect(() => reordered([1, 2, 3], 1, 3)).toThrow('List could not be moved!');
});

describe('there is place for', () => {
  test.each([
    [0, 'group', 'free', true],
    [1, 'group', 'free', false],
    [1, 'group', 'premium', true],
    [1, 'project', 'free', true],
    [99, 'project', 'free', true],
    [100, 'project', 'ultimate', false],
    [100, 'group', 'ultimate', false],
  ] as const)('a board beside %d of a %s in %s: %s', (count, of, tier, fits) => {
    const place = () => requirePlaceForBoard(count, of, tier);
    if (fits) expect(place).not.toThrow();
    else expect(place).toThrow();
  });

  test('a hundred lists', () => {
    expect(() => requirePlaceForList(99)).not.toThrow();
    expect(() => requirePlaceForList(100)).toThrow('Maximum number of lists (100) exceeded');
  });
});

test.each([
  ['label_id', 'free', true],
  ['assignee_id', 'free', false],
  ['milestone_id', 'free', false],
  ['iteration_id', 'free', false],
  ['milestone_id', 'premium', true],
] as const)('lists by %s exist in %s: %s', (kind, tier, exist) => {
  const check = () => requireListTier(kind, tier);
  if (exist) expect(check).not.toThrow();
  else expect(check).toThrow('lists not available with your current license');
});

const project = { projectId: 1, ancestorIds: [7, 8] };
const group = { ancestorIds: [7, 8] };
test.each([
  [project, { project_id: 1, namespace_id: null }, true],
  [project, { project_id: 2, namespace_id: null }, false],
  [project, { project_id: null, namespace_id: 8 }, true],
  [project, { project_id: null, namespace_id: 9 }, false],
  [group, { project_id: null, namespace_id: 7 }, true],
  [group, { project_id: null, namespace_id: 9 }, false],
  [group, { project_id: 1, namespace_id: null }, false],
])('within %j is %j: %s', (reach, row, within) => {
  expect(isWithin(reach, row)).toBe(within);
});
