/** Which epics are put inside of others: never in circles, nor too deep. */
import { expect, test } from 'vitest';
import { parentsOf } from './parents.ts';

const ids = new Map(Array.from({ length: 12 }, (_, index) => [index + 1, (index + 1) * 100]));

test.each<[what: string, inside: [number, number][], pairs: [number, number][]]>([
  ['one in another', [[2, 1]], [[200, 100]]],
  ['one in one that comes later', [[1, 2]], [[100, 200]]],
  ['one in itself', [[1, 1]], []],
  [
    'a circle of two',
    [
      [1, 2],
      [2, 1],
    ],
    [],
  ],
  [
    'one below a circle',
    [
      [1, 2],
      [2, 1],
      [3, 1],
    ],
    [],
  ],
  ['one that is nowhere', [[99, 1]], []],
  ['in one that is nowhere', [[1, 99]], []],
  ['no number', [[Number.NaN, 1]], []],
  [
    'seven levels',
    [
      [2, 1],
      [3, 2],
      [4, 3],
      [5, 4],
      [6, 5],
      [7, 6],
    ],
    [
      [200, 100],
      [300, 200],
      [400, 300],
      [500, 400],
      [600, 500],
      [700, 600],
    ],
  ],
  [
    'an eighth',
    [
      [2, 1],
      [3, 2],
      [4, 3],
      [5, 4],
      [6, 5],
      [7, 6],
      [8, 7],
    ],
    [
      [200, 100],
      [300, 200],
      [400, 300],
      [500, 400],
      [600, 500],
      [700, 600],
    ],
  ],
])('%s', (_what, inside, pairs) => {
  expect(parentsOf(new Map(inside), ids)).toEqual(pairs.map(([id, parent]) => ({ id, parent })));
});
