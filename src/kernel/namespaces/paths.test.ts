/** Paths: their form, and the words that are taken. */
import { describe, expect, it } from 'vitest';
import { pathProblems } from './paths.ts';

describe('pathProblems', () => {
  it.each([
    'a',
    '7',
    'a-b',
    'a.b_c',
    '_x',
    '.dot',
    'x-',
    'a'.repeat(255),
    'GitHub',
    'wikis',
    'group2',
    'user',
    'version',
    'login2',
  ])('admits %s at the top', (path) => {
    expect(pathProblems(path, 'top_level')).toEqual([]);
  });

  it.each(['', '-', '-a', 'a.', '..', 'a.git', 'A.ATOM', 'a b', 'a/b', 'ä', 'a\n', 'a%2Fb', 'a'.repeat(256)])(
    'refuses %j everywhere',
    (path) => {
      expect(pathProblems(path, 'top_level')).not.toEqual([]);
      expect(pathProblems(path, 'nested')).not.toEqual([]);
    },
  );

  it.each(['api', 'API', 'users', 'oauth', 'uploads', '.well-known', 'robots.txt'])(
    'keeps %s for the program at the top, and only there',
    (path) => {
      expect(pathProblems(path, 'top_level')).toEqual([`${path} is a reserved name`]);
      expect(pathProblems(path, 'nested')).toEqual([]);
    },
  );

  it.each(['tree', 'Raw', 'wikis', 'new'])('keeps %s for the program inside namespaces', (path) => {
    expect(pathProblems(path, 'nested')).toEqual([`${path} is a reserved name`]);
  });
});
