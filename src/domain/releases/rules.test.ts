/** Releases: their times, addresses and milestones. */
import { describe, expect, test } from 'vitest';
import {
  countRendered,
  evidenceTime,
  isUpcoming,
  releaseName,
  releaseUrl,
  requireMilestones,
  sourcesOf,
  suffixOf,
} from './rules.ts';

const noon = new Date('2027-03-01T12:00:00Z');
const before = new Date('2027-03-01T11:59:59.999Z');
const after = new Date('2027-03-01T12:00:00.001Z');

test.each([
  [noon, 'now'],
  [before, 'never'],
  [after, after],
] as const)('the evidence of one released at %j is collected %j', (released_at, time) => {
  expect(evidenceTime({ released_at, created_at: noon })).toEqual(time);
});

test.each([
  [before, false],
  [noon, false],
  [after, true],
])('one released at %j is upcoming: %j', (released_at, upcoming) => {
  expect(isUpcoming({ released_at }, noon)).toBe(upcoming);
});

test('a release without a name has its tag’s', () => {
  const names = [null, '', 'Spring'].map((name) => releaseName({ name, tag: 'v1' }));
  expect(names).toEqual(['v1', 'v1', 'Spring']);
});

test('a tag with a slash is one part of addresses', () => {
  const project = 'https://site.example/guild/vault';
  expect(releaseUrl(project, 'v1/a b')).toBe(`${project}/-/releases/v1%2Fa%20b`);
  expect(sourcesOf(project, 'vault', 'v1/a').map(({ url }) => url)).toEqual(
    ['zip', 'tar.gz', 'tar.bz2', 'tar'].map((format) => `${project}/-/archive/v1%2Fa/vault-v1-a.${format}`),
  );
});

describe('milestones that a request names', () => {
  const found = [
    { id: 1, title: 'One' },
    { id: 2, title: 'Two' },
  ];
  test.each([
    [{ titles: ['One', 'Two'] }, undefined],
    [{ titles: [] }, undefined],
    [{ ids: [2] }, undefined],
    [{ titles: ['One', 'x', 'y'] }, 'Milestone(s) not found: x, y'],
    [{ ids: [1, 7] }, 'Milestone id(s) not found: 7'],
  ])('%j', (wanted, message) => {
    const require = () => requireMilestones(wanted, found);
    if (message === undefined) expect(require).not.toThrow();
    else expect(require).toThrow(message);
  });
});

test.each([
  ['', ''],
  ['assets/links', '/assets/links'],
  ['/downloads/bin/a b', '/downloads/bin/a%20b'],
  ['a//b/', '/a/b'],
  ['a%2F..', '/a%252F..'],
  ['..', undefined],
  ['assets/../..', undefined],
  ['.', undefined],
])('what follows a permalink: %s', (path, suffix) => {
  expect(suffixOf(path)).toBe(suffix);
});

test.each([
  [[], 0],
  [[1_048_576], 1],
  [[1_048_577], 0],
  [[1_000_000, 48_576, 0, 1, 0], 3],
])('of texts of these lengths are rendered: %j', (lengths, count) => {
  expect(countRendered(lengths)).toBe(count);
});
