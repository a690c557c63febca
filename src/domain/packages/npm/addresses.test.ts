import { expect, test } from 'vitest';
import { packageAddress, scopeOf, tagAddress } from './addresses.ts';

test.each([
  ['stone', 'stone', undefined, undefined],
  ['@dark/stone', '@dark/stone', undefined, undefined],
  ['stone/-/stone-1.0.0.tgz', 'stone', 'stone-1.0.0.tgz', undefined],
  ['@dark/stone/-/@dark/stone-1.0.0.tgz', '@dark/stone', '@dark/stone-1.0.0.tgz', undefined],
  ['@dark/stone/-/stone-1.0.0.tgz', '@dark/stone', 'stone-1.0.0.tgz', undefined],
  ['stone/-rev/7', 'stone', undefined, '7'],
  ['@dark/stone/-/@dark/stone-1.0.0.tgz/-rev/7', '@dark/stone', '@dark/stone-1.0.0.tgz', '7'],
  ['-rev/-rev/7', '-rev', undefined, '7'],
])('%s is a package', (path, name, file, revision) => {
  expect(packageAddress(path)).toEqual({ name, file, revision });
});

test.each([
  ['stone/dist-tags', 'stone', undefined],
  ['@dark/stone/dist-tags', '@dark/stone', undefined],
  ['@dark/stone/dist-tags/next', '@dark/stone', 'next'],
  ['@dark/dist-tags/dist-tags/dist-tags', '@dark/dist-tags', 'dist-tags'],
  ['stone/dist-tags/a/b', 'stone', 'a/b'],
])('%s is about tags', (path, name, tag) => {
  expect(tagAddress(path)).toEqual({ name, tag });
});

test.each([
  '',
  '/',
  '@dark',
  '@dark/',
  'a/b',
  '@dark/stone/x',
  'stone/-/',
  'stone/-/a/b',
  'stone/-rev/',
  '@a/@b/c',
])('%j is no package', (path) => {
  expect(() => packageAddress(path)).toThrow('Not found');
  expect(() => tagAddress(path)).toThrow('Not found');
});

test.each([
  ['@dark/stone', 'dark'],
  ['@dark/stone/dist-tags', 'dark'],
  ['stone', ''],
  ['dark/@stone/x', ''],
])('the scope of %s is %j', (path, scope) => {
  expect(scopeOf(path)).toBe(scope);
});
