/** Which refs move, and when the next run is. */
import { expect, test } from 'vitest';
import { NO_OBJECT } from '../../platform/git/names.ts';
import {
  afterPull,
  afterPush,
  mustFollow,
  pulledUpdates,
  pushAt,
  pushedUpdates,
  requestedPullAt,
} from './rules.ts';

/** `main=1 v1=2`: names in small letters are branches, those with digits tags. */
const refs = (written: string): Map<string, string> =>
  new Map(
    written
      .split(' ')
      .filter((each) => each !== '')
      .map((each) => {
        const [name = '', oid = ''] = each.split('=');
        return [/\d/.test(name) ? `refs/tags/${name}` : `refs/heads/${name}`, oid];
      }),
  );
const named = (ref: string): string => ref.replace(/^refs\/(heads|tags)\//, '');
const all = (_: string): boolean => true;
const onlyMain = (name: string): boolean => name === 'main';

test.each<[string, string, typeof all, string]>([
  ['', 'main=a v1=b', all, 'main:0>a v1:0>b'],
  ['main=a', 'main=a', all, ''],
  ['main=a side=b', 'main=c', all, 'main:a>c'],
  // Deletions are not applied; what was deleted here comes back.
  ['main=a side=b v1=c', 'main=a', all, ''],
  ['main=a', 'main=a side=b', all, 'side:0>b'],
  // Branches by the filter, tags always.
  ['', 'main=a side=b v1=c', onlyMain, 'main:0>a v1:0>c'],
  ['v1=a', 'v1=b', onlyMain, 'v1:a>b'],
])('a pull into %j of %j', (local, remote, filter, expected) => {
  const updates = pulledUpdates(refs(local), refs(remote), filter);
  const short = (oid: string) => (oid === NO_OBJECT ? '0' : oid);
  expect(
    updates.map((each) => `${named(each.ref)}:${short(each.before)}>${short(each.after)}`).join(' '),
  ).toBe(expected);
});

test.each<[string, string, boolean, boolean]>([
  ['refs/heads/main', 'a', false, true],
  ['refs/heads/main', 'a', true, false],
  ['refs/heads/main', NO_OBJECT, false, false],
  ['refs/tags/v1', 'a', false, false],
])('%s from %s, overwriting %s', (ref, before, overwrites, expected) => {
  expect(mustFollow({ ref, before, after: 'b' }, overwrites)).toBe(expected);
});

/** Each letter is behind all that come after it; `z` is known to nobody. */
const behind = async (oid: string, ours: string | undefined) => oid !== 'z' && oid < (ours ?? 'f');

test.each<[string, string, string, typeof all, boolean, string, string]>([
  ['new ones', 'main=a v1=b', '', all, false, 'main=a v1=b', ''],
  ['changed ones', 'main=b', 'main=a', all, false, 'main=b', ''],
  ['nothing', 'main=b', 'main=b', all, false, '', ''],
  ['deleted ones', 'main=a', 'main=a side=b v1=c', all, false, 'side= v1=', ''],
  ['nothing at all of an empty repository', '', 'main=a', all, false, '', ''],
  ['nor of one with tags alone', 'v1=a', 'main=a', all, false, '', ''],
  ['those of the filter', 'main=b side=c', 'main=a other=d v1=e', onlyMain, false, 'main=b v1=', ''],
  ['what went other ways', 'main=b', 'main=z', all, false, 'main=b', ''],
  ['not what is kept', 'main=b side=c', 'main=z side=a', all, true, 'side=c', 'main'],
  ['deleted ones that are behind', 'main=e', 'main=e old=b far=z', all, true, 'old=', 'far'],
])('a push of %s', async (_, local, remote, filter, keeps, expected, divergent) => {
  const plan = await pushedUpdates(refs(local), refs(remote), filter, keeps ? behind : undefined);
  expect(plan.updates.map(({ ref, after }) => `${named(ref)}=${after ?? ''}`).join(' ')).toBe(expected);
  expect(plan.divergent.map(named).join(' ')).toBe(divergent);
});

const time = new Date('2026-01-01T12:00:00Z');
const minutesAfter = (date: Date | null) =>
  date === null ? null : (date.getTime() - time.getTime()) / 60_000;
const ago = (minutes: number) => new Date(time.getTime() - minutes * 60_000);

test.each<[number | null, number]>([
  [null, 0],
  [10, 0],
  [5, 0],
  [2, 3],
])('a pull that is asked for, %s minutes after the last, waits %s', (since, expected) => {
  expect(minutesAfter(requestedPullAt(since === null ? null : ago(since), time))).toBe(expected);
});

test.each<[number | null, boolean, number]>([
  [null, false, 0],
  [10, false, 0],
  [2, false, 3],
  [2, true, 0],
  [0.5, true, 0.5],
])(
  'a push, %s minutes after the last, of protected ones alone %s, waits %s',
  (since, onlyProtected, expected) => {
    const startedAt = since === null ? null : ago(since);
    expect(minutesAfter(pushAt({ startedAt, onlyProtected }, time))).toBe(expected);
  },
);

const failed = { failed: { text: 'no', transient: true } };
test.each<[number, boolean, boolean, object, object]>([
  [3, false, true, {}, { status: 'finished', failures: 0, due: 30, tells: false }],
  [0, false, false, {}, { status: 'finished', failures: 0, due: null, tells: false }],
  [0, false, true, failed, { status: 'failed', failures: 1, due: 5, tells: false }],
  [3, false, true, failed, { status: 'failed', failures: 4, due: 40, tells: false }],
  [9, false, true, failed, { status: 'failed', failures: 10, due: 300, tells: false }],
  [13, false, true, failed, { status: 'failed', failures: 14, due: null, tells: true }],
  [14, true, true, failed, { status: 'failed', failures: 15, due: null, tells: false }],
  [0, false, false, failed, { status: 'failed', failures: 1, due: null, tells: false }],
])(
  'after %s failures, told %s, of a pull that is on %s: %j',
  (failures, is_told, enabled, outcome, expected) => {
    const after = afterPull({ failures, is_told, enabled }, outcome, time, 300);
    expect({
      status: after.status,
      failures: after.failures,
      due: minutesAfter(after.due_at),
      tells: after.tells,
    }).toEqual(expected);
  },
);

const refused = { failed: { text: 'no', transient: false } };
test.each<[number, boolean, object, object]>([
  [2, true, {}, { status: 'finished', failures: 0, due: null, tells: false, is_told: false }],
  [0, false, failed, { status: 'to_retry', failures: 1, due: 1, tells: false, is_told: false }],
  [1, false, failed, { status: 'to_retry', failures: 2, due: 2, tells: false, is_told: false }],
  [2, false, failed, { status: 'failed', failures: 3, due: null, tells: true, is_told: true }],
  [3, true, failed, { status: 'failed', failures: 4, due: null, tells: false, is_told: true }],
  [0, false, refused, { status: 'failed', failures: 1, due: null, tells: true, is_told: true }],
])('after %s failures, told %s, of a push: %j', (failures, is_told, outcome, expected) => {
  const after = afterPush({ failures, is_told }, outcome, time);
  const { status, failures: count, due_at, tells, is_told: told } = after;
  expect({ status, failures: count, due: minutesAfter(due_at), tells, is_told: told }).toEqual(expected);
});
