import { expect, test } from 'vitest';
import {
  moduleFiles,
  moduleRequest,
  newestOf,
  pseudoVersion,
  tagOf,
  versionOfCommit,
  versionsAmong,
} from './rules.ts';

const PREFIX = 'example.com/Quarry/stone';
const ESCAPED = 'example.com/!quarry/stone';

test.each([
  ['/@v/list', { folder: [], module: PREFIX, major: 1, asked: { kind: 'list' } }],
  ['/lib/v2/@latest', { folder: ['lib'], major: 2, asked: { kind: 'latest' } }],
  ['/@v/v1.0.0.info', { folder: [], major: 1, asked: { kind: 'info', version: 'v1.0.0' } }],
  ['/v2/@v/v2.1.0-rc.1.mod', { folder: [], module: `${PREFIX}/v2`, major: 2, asked: { kind: 'mod' } }],
  ['/lib/a/@v/v0.1.0.zip', { folder: ['lib', 'a'], major: 1, asked: { kind: 'zip', version: 'v0.1.0' } }],
  ['/lib/v3/@v/v3.0.0-!r!c.zip', { folder: ['lib'], major: 3, asked: { version: 'v3.0.0-RC' } }],
])('%s asks', (path, expected) => {
  expect(moduleRequest(`${ESCAPED}${path}`, PREFIX)).toMatchObject(expected);
});

test.each([
  `${PREFIX}/@v/list`,
  `${ESCAPED}/@v/!A.info`,
  `${ESCAPED}s/@v/list`,
  'example.com/!quarry/@v/list',
  `${ESCAPED}/../x/@v/list`,
  `${ESCAPED}/.git/@v/list`,
  `${ESCAPED}//@v/list`,
  `${ESCAPED}/@latest/`,
  `${ESCAPED}/@v/@latest`,
  '@latest',
  `${ESCAPED}/@v/`,
  `${ESCAPED}/@v/main.info`,
  `${ESCAPED}/@v/v1.0.info`,
  `${ESCAPED}/@v/v1.0.0+build.info`,
  `${ESCAPED}/@v/v2.0.0.info`,
  `${ESCAPED}/v2/@v/v1.0.0.info`,
  `${ESCAPED}/@v/v1.0.0.exe`,
  `${ESCAPED}/${'a/'.repeat(1_000)}@v/list`,
])('%s asks nothing', (path) => {
  expect(moduleRequest(path, PREFIX)).toBeUndefined();
});

test('tags of a module in a folder begin with it', () => {
  expect(tagOf({ folder: [] }, 'v1.0.0')).toBe('v1.0.0');
  expect(tagOf({ folder: ['lib', 'a'] }, 'v1.0.0')).toBe('lib/a/v1.0.0');
});

test('the versions among tags', () => {
  const tags = [
    'v1.10.0',
    'v1.9.0',
    'v1.9.0-rc.1',
    '1.0.0',
    'v2.0.0',
    'v1.0',
    'lib/v0.1.0',
    'lib/x/v0.2.0',
    'v0.1.0',
  ];
  const pseudo = 'v0.0.0-20240101000000-abcdefabcdef';
  const versions = (folder: string[], major: number) => versionsAmong([...tags, pseudo], { folder, major });
  expect(versions([], 1)).toEqual(['v0.1.0', 'v1.9.0-rc.1', 'v1.9.0', 'v1.10.0']);
  expect(versions([], 2)).toEqual(['v2.0.0']);
  expect(versions(['lib'], 1)).toEqual(['v0.1.0']);
});

test.each([
  ['v0.0.0-20240102030405-abcdefabcdef', true],
  ['v2.0.0-20240102030405-abcdefabcdef', true],
  ['v1.2.4-0.20240102030405-abcdefabcdef', true],
  ['v1.2.3-pre.0.20240102030405-abcdefabcdef', true],
  ['v1.2.3-20240102030405-abcdefabcdef', false],
  ['v0.0.0-20240102030405-ABCDEFABCDEF', false],
  ['v0.0.0-2024-abcdefabcdef', false],
])('%s names a commit: %s', (version, isOne) => {
  const expected = { time: '20240102030405', commit: 'abcdefabcdef' };
  expect(pseudoVersion(version)).toEqual(isOne ? expected : undefined);
});

test('the files of a module are its own', () => {
  const file = (path: string, mode = '100644') => ({ path, mode });
  const kept = ['go.mod', 'a.go', 'lib/b.go', 'vendor/modules.txt', 'tools/run.sh'];
  const others = [
    file('vendor/x/a.go'),
    file('lib/vendor/x/a.go'),
    file('nested/go.mod'),
    file('nested/deep/c.go'),
    file('upper/GO.MOD'),
    file('link', '120000'),
    file('sub', '160000'),
    file('folder', '40000'),
  ];
  const all = [...kept.map((path) => file(path, path.endsWith('.sh') ? '100755' : '100644')), ...others];
  expect(moduleFiles(all).map(({ path }) => path)).toEqual(kept);
});

test.each([
  [['v0.9.0', 'v1.0.0', 'v1.1.0-rc.1'], 'v1.0.0'],
  [['v1.0.0-alpha', 'v1.0.0-rc.1'], 'v1.0.0-rc.1'],
  [[], undefined],
])('of %j the newest is %s', (versions, expected) => {
  expect(newestOf(versions)).toBe(expected);
});

test.each([
  [1, 'v0.0.0-20231114221320-0123456789ab'],
  [3, 'v3.0.0-20231114221320-0123456789ab'],
])('a commit of a module of major version %i', (major, expected) => {
  const version = versionOfCommit(major, new Date('2023-11-14T22:13:20Z'), '0123456789abcdef');
  expect(version).toBe(expected);
  expect(pseudoVersion(version)).toEqual({ time: '20231114221320', commit: '0123456789ab' });
});
