import { describe, expect, test } from 'vitest';
import { componentAddress, isShorthand, versionsFor, versionsOf } from './components.ts';

test.each([
  ['here.test/group/tools/lint@1.0', { project: 'group/tools', name: 'lint', version: '1.0' }],
  ['HERE.test/a/b/c/lint@~latest', { project: 'a/b/c', name: 'lint', version: '~latest' }],
  [
    'here.test/group/tools/lint@feature/a@b',
    { project: 'group/tools', name: 'lint', version: 'feature/a@b' },
  ],
  ['elsewhere.test/group/tools/lint@1.0', undefined],
  ['here.test/tools/lint@1.0', undefined],
  ['here.test/group/tools/lint', undefined],
  ['here.test/group/tools/lint@', undefined],
  ['here.test//group/tools/@1', undefined],
  ['', undefined],
])('%s', (address, expected) => {
  expect(componentAddress(address, 'here.test')).toEqual(expected);
});

describe('versions', () => {
  const tags = [
    '1.2.3',
    '1.10.0',
    'v1.2.10',
    '1.2.4-rc1',
    '2.0.0-rc1',
    '0.9.0',
    'main',
    '1.2',
    '01.2.3',
    '1.3.0+b7',
  ];

  test.each([
    ['~latest', ['1.10.0', '1.3.0+b7', 'v1.2.10', '1.2.3', '0.9.0']],
    ['1', ['1.10.0', '1.3.0+b7', 'v1.2.10', '1.2.3']],
    ['1.2', ['v1.2.10', '1.2.3']],
    ['v1.2', ['v1.2.10', '1.2.3']],
    ['2', []],
    ['0', ['0.9.0']],
  ])('%s', (shorthand, expected) => {
    expect(isShorthand(shorthand)).toBe(true);
    expect(versionsFor(shorthand, versionsOf(tags))).toEqual(expected);
  });

  test.each(['1.2.3', 'main', 'latest', '', '1.', '1.2.3.4', 'abcdef0'])('%j is none', (version) => {
    expect(isShorthand(version)).toBe(false);
  });
});
