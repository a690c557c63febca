import { expect, test } from 'vitest';
import { compareVersions, isVersion, sortedVersions } from './semver.ts';

/** Each older than the next. */
const inOrder = [
  '0.0.1',
  '0.9.0',
  '1.0.0-0',
  '1.0.0-2',
  '1.0.0-11',
  '1.0.0-alpha',
  '1.0.0-alpha.1',
  '1.0.0-alpha.beta',
  '1.0.0-beta',
  '1.0.0-beta.2',
  '1.0.0-beta.11',
  '1.0.0-rc.1',
  '1.0.0',
  '1.0.1',
  '1.2.0',
  '1.10.0',
  '2.0.0',
  '10.0.0',
  `1${'0'.repeat(30)}.0.0`,
];

test('versions have an order', () => {
  expect(inOrder.every(isVersion)).toBe(true);
  expect([...inOrder].reverse().sort(compareVersions)).toEqual(inOrder);
  expect(sortedVersions([...inOrder].reverse())).toEqual(inOrder);
  expect(compareVersions('1.0.0+a', '1.0.0+b')).toBe(0);
});

test.each(['1.0.0-x-y-z.4+21AF26D3---117B344092BD', '1.0.0--', '1.0.0+001'])('%s is a version', (text) => {
  expect(isVersion(text)).toBe(true);
});

test.each([
  '',
  '1',
  '1.0',
  'v1.0.0',
  '01.0.0',
  '1.0.0-01',
  '1.0.0-',
  '1.0.0+',
  '1.0.0 ',
  '1.0.0-a..b',
  `1.0.${'1'.repeat(255)}`,
])('%j is no version', (text) => {
  expect(isVersion(text)).toBe(false);
});
