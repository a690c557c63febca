import { describe, expect, test } from 'vitest';
import {
  type Broadcast,
  broadcastsAt,
  isFor,
  linesOf,
  subjectPath,
  undismissed,
  withOneNotification,
} from './broadcasts.ts';

const time = new Date('2026-01-02T12:00:00Z');
const hours = (count: number) => new Date(time.getTime() + count * 3_600_000);
const message = (values: Partial<Broadcast> = {}): Broadcast => ({
  id: 1,
  message: 'Down at noon',
  starts_at: hours(-1),
  ends_at: hours(1),
  target_access_levels: [],
  target_path: null,
  broadcast_type: 'banner',
  theme: 'indigo',
  dismissable: false,
  ...values,
});

describe('broadcastsAt', () => {
  test.each<[string, Partial<Broadcast>, string, boolean]>([
    ['everywhere without a path', {}, '/a/b', true],
    ['everywhere with an empty path', { target_path: '' }, '/a/b', true],
    ['from its first moment', { starts_at: time }, '/', true],
    ['not before', { starts_at: hours(1), ends_at: hours(2) }, '/', false],
    ['not in its last moment', { ends_at: time }, '/', false],
    ['at its path', { target_path: '/a/b' }, '/a/b', true],
    ['at no path below', { target_path: '/a/b' }, '/a/b/c', false],
    ['below it with a star', { target_path: '/a/*' }, '/a/b/c', true],
    ['at an end', { target_path: '*/welcome' }, '/x/welcome', true],
    ['a dot is a dot', { target_path: '/a.c' }, '/abc', false],
    ['brackets are brackets', { target_path: '/(a+)+$' }, '/aaaa', false],
  ])('%s', (_case, values, path, expected) => {
    expect(broadcastsAt([message(values)], path, time)).toHaveLength(expected ? 1 : 0);
  });

  test('a pattern of stars takes one look at each letter', () => {
    const target_path = `${'*a'.repeat(120)}b`;
    expect(broadcastsAt([message({ target_path })], `/${'a'.repeat(100_000)}`, time)).toEqual([]);
  });
});

test.each([
  [[], 0, true],
  [[], 30, true],
  [[30, 40], 30, true],
  [[30, 40], 20, false],
  [[10], 0, false],
])('a message for %j is for the level %i: %s', (target_access_levels, level, expected) => {
  expect(isFor(message({ target_access_levels }), level)).toBe(expected);
});

test('all banners and the newest notification are shown', () => {
  const of = (id: number, broadcast_type: Broadcast['broadcast_type']) => message({ id, broadcast_type });
  const all = [of(4, 'notification'), of(3, 'banner'), of(2, 'notification'), of(1, 'banner')];
  expect(withOneNotification(all).map(({ id }) => id)).toEqual([3, 1, 4]);
});

test.each([
  ['/', undefined],
  ['/-/profile/password', undefined],
  ['/a', 'a'],
  ['/groups/a/b', 'a/b'],
  ['/groups/a/-/epics', 'a'],
  ['/a/b/-/issues/1', 'a/b'],
  ['/users/sign_in', 'users/sign_in'],
])('the subject of %s is %s', (path, expected) => {
  expect(subjectPath(path)).toBe(expected);
});

test('cookies put away what can be put away', () => {
  const of = (id: number, dismissable: boolean) => message({ id, dismissable });
  const cookies = 'a=b; hide_broadcast_message_1=true;hide_broadcast_message_2=; x=hide_broadcast_message_3';
  const left = undismissed([of(1, true), of(2, true), of(3, true), of(1, false), of(11, true)], cookies);
  expect(left.map(({ id, dismissable }) => [id, dismissable])).toEqual([
    [3, true],
    [1, false],
    [11, true],
  ]);
  expect(undismissed([of(1, true)], undefined)).toHaveLength(1);
  expect(undismissed([message({ broadcast_type: 'notification' })], cookies)).toEqual([]);
});

test('git shows banners line by line, and no terminal obeys them', () => {
  const notification = message({ broadcast_type: 'notification', message: 'no' });
  expect(linesOf([message({ message: 'a\r\nb\u001b[31m\u202ec' }), notification])).toEqual([
    '',
    'a',
    'b [31m c',
    '',
  ]);
  expect(linesOf([])).toEqual([]);
});
