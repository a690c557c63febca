/** Cases of names, scopes and ranges. */
import { expect, test } from 'vitest';
import { defaultSettings } from '../../../kernel/settings/definitions.ts';
import {
  arrivedRange,
  chunkRange,
  isImagePath,
  isTag,
  MAX_SCOPES,
  pageSize,
  parseDigest,
  parseScopes,
  projectCandidates,
  proxiedImage,
  upstreamName,
} from './rules.ts';

test.each([
  ['a/b', true],
  ['a/b/c/d', true],
  ['my-group/my--app/web_1/v1.2', true],
  ['a__b/c', true],
  ['a', false],
  ['a___b/c', false],
  ['A/b', false],
  ['a//b', false],
  ['/a/b', false],
  ['a/b/', false],
  ['a/.b', false],
  ['a/../b', false],
  ['a/b\0', false],
  [`a/${'b'.repeat(253)}`, true],
  [`a/${'b'.repeat(254)}`, false],
  [Array.from({ length: 19 }, () => 'a').join('/'), true],
  [Array.from({ length: 20 }, () => 'a').join('/'), false],
])('%s names an image: %s', (path, valid) => expect(isImagePath(path)).toBe(valid));

test.each([
  ['a/b', [['a/b', '']]],
  [
    'a/b/c',
    [
      ['a/b/c', ''],
      ['a/b', 'c'],
    ],
  ],
  [
    'a/b/c/d/e',
    [
      ['a/b/c/d/e', ''],
      ['a/b/c/d', 'e'],
      ['a/b/c', 'd/e'],
    ],
  ],
])('%s is below one of %j', (path, expected) =>
  expect(projectCandidates(path).map(({ projectPath, name }) => [projectPath, name])).toEqual(expected),
);

test.each([
  ['latest', true],
  ['_', true],
  ['v1.2-rc_3', true],
  ['a'.repeat(128), true],
  ['a'.repeat(129), false],
  ['.a', false],
  ['-a', false],
  ['a:b', false],
  ['', false],
])('%s is a tag: %s', (text, valid) => expect(isTag(text)).toBe(valid));

test.each([
  [`sha256:${'0f'.repeat(32)}`, 'sha256'],
  [`sha512:${'0f'.repeat(64)}`, 'sha512'],
  [`sha256:${'0F'.repeat(32)}`, undefined],
  [`sha256:${'0f'.repeat(31)}`, undefined],
  [`sha512:${'0f'.repeat(32)}`, undefined],
  [`md5:${'0f'.repeat(16)}`, undefined],
  ['latest', undefined],
])('%s is a digest by %s', (text, algorithm) => expect(parseDigest(text)?.algorithm).toBe(algorithm));

test.each([
  [['repository:a/b:pull,push'], [{ type: 'repository', path: 'a/b', actions: ['pull', 'push'] }]],
  [['repository:a/b:pull,fly,pull'], [{ type: 'repository', path: 'a/b', actions: ['pull'] }]],
  [['repository:a/b:*'], [{ type: 'repository', path: 'a/b', actions: ['*'] }]],
  [['registry:catalog:*'], [{ type: 'catalog' }]],
  [['registry:other:*', 'repository:A/b:pull', 'repository:a:pull', 'x', ''], []],
  [
    ['repository:a/b:pull repository:c/d:push', 'registry:catalog:*'],
    [
      { type: 'repository', path: 'a/b', actions: ['pull'] },
      { type: 'repository', path: 'c/d', actions: ['push'] },
      { type: 'catalog' },
    ],
  ],
])('%j are the scopes %j', (parameters, scopes) => expect(parseScopes(parameters)).toEqual(scopes));

test('scopes are bounded', () => {
  const many = (count: number) => [Array.from({ length: count }, () => 'repository:a/b:pull').join(' ')];
  expect(parseScopes(many(MAX_SCOPES))).toHaveLength(MAX_SCOPES);
  expect(parseScopes(many(MAX_SCOPES + 1))).toBeUndefined();
});

test.each([
  [undefined, undefined],
  ['0-99', { start: 0, end: 99 }],
  ['bytes=5-5', { start: 5, end: 5 }],
  ['bytes 0-4/5', { start: 0, end: 4 }],
  ['5-4', 'invalid'],
  ['-4', 'invalid'],
  ['0-', 'invalid'],
  ['a-b', 'invalid'],
])('a chunk at %s is %j', (header, range) => expect(chunkRange(header)).toEqual(range));

test.each([
  [0, '0-0'],
  [1, '0-0'],
  [100, '0-99'],
])('%i bytes have arrived: %s', (size, range) => expect(arrivedRange(size)).toBe(range));

test.each([
  [null, 1_000],
  ['0', 0],
  ['5', 5],
  ['1000000', 1_000],
  ['-1', undefined],
  ['x', undefined],
  ['', undefined],
])('n=%s is a page of %s', (n, size) => expect(pageSize(n)).toBe(size));

test.each([
  ['g/dependency_proxy/containers/alpine', { groupPath: 'g', name: 'alpine' }],
  ['g/sub/dependency_proxy/containers/a/b/c', { groupPath: 'g/sub', name: 'a/b/c' }],
  [
    'g/dependency_proxy/containers/x/dependency_proxy/containers/y',
    { groupPath: 'g', name: 'x/dependency_proxy/containers/y' },
  ],
  ['g/dependency_proxy/containers', undefined],
  ['dependency_proxy/containers/alpine', undefined],
  ['/dependency_proxy/containers/alpine', undefined],
  ['g/containers/alpine', undefined],
])('%s is behind a proxy: %j', (path, proxied) => expect(proxiedImage(path)).toEqual(proxied));

const hub = defaultSettings.dependency_proxy_upstream_url;
test.each([
  ['alpine', hub, 'library/alpine'],
  ['alpine', `${hub}/`, 'library/alpine'],
  ['alpine', 'https://Registry-1.Docker.IO:443', 'library/alpine'],
  ['library/alpine', hub, 'library/alpine'],
  ['bitnami/redis', hub, 'bitnami/redis'],
  ['alpine', 'https://registry.example', 'alpine'],
  ['alpine', 'https://registry.example/registry-1.docker.io', 'alpine'],
  ['alpine', 'https://registry-1.docker.io.example', 'alpine'],
  ['bitnami/redis', 'https://registry.example', 'bitnami/redis'],
  ['alpine', '', 'alpine'],
])('%s at %s is %s there', (name, at, upstream) => expect(upstreamName(name, at)).toBe(upstream));
