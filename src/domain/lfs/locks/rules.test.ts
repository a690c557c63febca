import { expect, test } from 'vitest';
import { Failure } from '../../../platform/failure.ts';
import { requireLockPath, requirePage, unlockRefusal } from './rules.ts';

test.each([
  ['a.psd', true],
  ['art/a b/ä.psd', true],
  ['a'.repeat(511), true],
  ['a'.repeat(512), false],
  ['', false],
  ['/a', false],
  ['a/', false],
  ['../a', false],
  ['a/../b', false],
  ['.git/config', false],
  ['a\0b', false],
  ['a\nb', false],
  [5, false],
  [undefined, false],
])('a lock of %j', (path, isRight) => {
  const lock = () => requireLockPath(path);
  if (isRight) expect(lock()).toBe(path);
  else expect(lock).toThrow(Failure);
});

test.each([
  [undefined, undefined, { cursor: 0, limit: 100 }],
  ['5', '7', { cursor: 5, limit: 7 }],
  ['', 1_000, { cursor: 0, limit: 100 }],
  ['5', '0', { cursor: 5, limit: 100 }],
  ['5', '-1', { cursor: 5, limit: 100 }],
])('a page from %j of %j', (cursor, limit, page) => {
  expect(requirePage(cursor, limit)).toEqual(page);
});

test.each(['-1', 'a', '1e3', '9'.repeat(16), {}])('no page from %j', (cursor) => {
  expect(() => requirePage(cursor, undefined)).toThrow(Failure);
});

const lock = { id: 1, path: 'a', locked_at: new Date(), user_id: 5, name: 'Ada', username: 'ada' };

test.each([
  [{ userId: 5, force: false, mayForce: false }, undefined],
  [{ userId: 5, force: true, mayForce: false }, undefined],
  [{ userId: 6, force: false, mayForce: true }, 'a is locked by @ada'],
  [{ userId: 6, force: true, mayForce: false }, 'You must have maintainer access to force delete a lock'],
  [{ userId: 6, force: true, mayForce: true }, undefined],
])('a lock of user 5, removed with %j', (wish, refusal) => {
  expect(unlockRefusal(lock, wish)).toBe(refusal);
});
