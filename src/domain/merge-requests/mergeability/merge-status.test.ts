/** The machine of `merge_status`: every event in every status. */
import { expect, test } from 'vitest';
import {
  isNewConflict,
  type MergeStatus,
  type MergeStatusEvent,
  mergeStatusAfter,
  publicMergeStatus,
} from './merge-status.ts';

const recheck = 'cannot_be_merged_recheck';
const rechecking = 'cannot_be_merged_rechecking';
const events: MergeStatusEvent[] = ['prepare', 'change', 'check', 'mergeable', 'unmergeable'];

test.each<[before: MergeStatus, shown: MergeStatus, after: MergeStatus[]]>([
  ['preparing', 'checking', ['preparing', 'unchecked', 'preparing', 'preparing', 'preparing']],
  ['unchecked', 'unchecked', ['preparing', 'unchecked', 'checking', 'unchecked', 'unchecked']],
  ['checking', 'checking', ['checking', 'unchecked', 'checking', 'can_be_merged', 'cannot_be_merged']],
  [
    'can_be_merged',
    'can_be_merged',
    ['can_be_merged', 'unchecked', 'can_be_merged', 'can_be_merged', 'can_be_merged'],
  ],
  [
    'cannot_be_merged',
    'cannot_be_merged',
    ['cannot_be_merged', recheck, 'cannot_be_merged', 'cannot_be_merged', 'cannot_be_merged'],
  ],
  [recheck, recheck, [recheck, recheck, rechecking, recheck, recheck]],
  [rechecking, 'checking', [rechecking, recheck, rechecking, 'can_be_merged', 'cannot_be_merged']],
])('%s is shown as %s, and becomes %j', (before, shown, after) => {
  expect(publicMergeStatus(before)).toBe(shown);
  expect(events.map((event) => mergeStatusAfter(before, event))).toEqual(after);
});

test('from creation to a conflict, and again after a push', () => {
  const path: MergeStatusEvent[] = [
    ...(['prepare', 'change', 'check', 'unmergeable'] as const),
    ...(['change', 'check', 'unmergeable'] as const),
  ];
  let status: MergeStatus = 'unchecked';
  const conflicts = path.map((event) => {
    const before = status;
    status = mergeStatusAfter(before, event);
    return isNewConflict(before, status);
  });
  expect(status).toBe('cannot_be_merged');
  expect(conflicts).toEqual([false, false, false, true, false, false, false]);
});
