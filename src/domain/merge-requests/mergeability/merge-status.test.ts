/** Which judgement is a conflict that people hear of. */
import { expect, test } from 'vitest';
import { isNewConflict, type MergeStatus } from './merge-status.ts';

test.each<[before: MergeStatus, after: MergeStatus, isNew: boolean]>([
  ['unchecked', 'cannot_be_merged', true],
  ['can_be_merged', 'cannot_be_merged', true],
  ['cannot_be_merged', 'cannot_be_merged', false],
  ['cannot_be_merged_recheck', 'cannot_be_merged', false],
  ['unchecked', 'can_be_merged', false],
  ['cannot_be_merged_recheck', 'can_be_merged', false],
])('%s and then %s', (before, after, isNew) => expect(isNewConflict(before, after)).toBe(isNew));
