/** `detailed_merge_status`: the value of each check, and which of several wins. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { failingConditions, mergeableConditions } from '../../../../test/support/merge-conditions.ts';
import {
  type DetailedMergeStatus,
  detailedMergeStatus,
  failedChecks,
  isMergeable,
  type MergeConditions,
  type PipelineStatus,
} from './checks.ts';

const { now } = mergeableConditions;
const status = (more: Partial<MergeConditions>): DetailedMergeStatus =>
  detailedMergeStatus({ ...mergeableConditions, ...more });

test.each<[more: Partial<MergeConditions>, status: DetailedMergeStatus]>([
  [{}, 'mergeable'],
  [{ merge_status: 'unchecked', state: 'closed' }, 'unchecked'],
  [{ merge_status: 'unchecked', hasRequestedChanges: true }, 'unchecked'],
  [{ merge_status: 'unchecked', isBlocked: true }, 'unchecked'],
  [{ merge_status: 'cannot_be_merged_recheck', isDraft: true }, 'draft_status'],
  [{ merge_status: 'cannot_be_merged_recheck' }, 'conflict'],
  [{ approvals: 'syncing', isDraft: true }, 'approvals_syncing'],
  [{ state: 'merged' }, 'not_open'],
  [{ state: 'locked' }, 'not_open'],
  [{ merge_after: now }, 'mergeable'],
  [{ hasSourceBranch: false }, 'commits_status'],
  [{ mustResolveDiscussions: true, hasUnresolvedDiscussions: false }, 'mergeable'],
  [{ merge_method: 'rebase_merge' }, 'need_rebase'],
  [{ merge_method: 'rebase_merge', containsTargetHead: true }, 'mergeable'],
  [{ merge_method: 'ff', containsTargetHead: true }, 'mergeable'],
  ...failingConditions.map(([value, more]): [Partial<MergeConditions>, DetailedMergeStatus] => [more, value]),
])('%j: %s', (more, expected) => {
  expect(status(more)).toBe(expected);
  expect(isMergeable({ ...mergeableConditions, ...more })).toBe(expected === 'mergeable');
});

test('of several that fail, the first wins', () => {
  fc.assert(
    fc.property(fc.subarray([...failingConditions], { minLength: 1 }), (failing) => {
      const conditions = Object.assign({ ...mergeableConditions }, ...failing.map(([, more]) => more));
      expect(failedChecks(conditions)).toEqual(failing.map(([value]) => value));
      expect(detailedMergeStatus(conditions)).toBe(failing[0]?.[0]);
      expect(isMergeable(conditions)).toBe(false);
    }),
  );
});

describe('a pipeline', () => {
  type Row = [pipeline: PipelineStatus | null, must: string, forAutoMerge: string, ofNoMatter: string];
  test.each<Row>([
    [null, 'ci_must_pass', 'mergeable', 'mergeable'],
    ['success', 'mergeable', 'mergeable', 'mergeable'],
    ['failed', 'ci_must_pass', 'ci_must_pass', 'mergeable'],
    ['canceled', 'ci_must_pass', 'ci_must_pass', 'mergeable'],
    ['skipped', 'ci_must_pass', 'ci_must_pass', 'mergeable'],
    ['created', 'ci_still_running', 'ci_still_running', 'mergeable'],
    ['waiting_for_resource', 'ci_still_running', 'ci_still_running', 'mergeable'],
    ['preparing', 'ci_still_running', 'ci_still_running', 'mergeable'],
    ['pending', 'ci_still_running', 'ci_still_running', 'mergeable'],
    ['running', 'ci_still_running', 'ci_still_running', 'mergeable'],
    ['canceling', 'ci_still_running', 'ci_must_pass', 'mergeable'],
    ['manual', 'ci_still_running', 'ci_must_pass', 'mergeable'],
    ['scheduled', 'ci_still_running', 'ci_must_pass', 'mergeable'],
  ])('that is %s', (pipeline, must, forAutoMerge, ofNoMatter) => {
    expect(status({ pipeline, mustPipelineSucceed: true })).toBe(must);
    expect(status({ pipeline, isAutoMerge: true })).toBe(forAutoMerge);
    expect(status({ pipeline })).toBe(ofNoMatter);
  });

  test('may be skipped where the project says so', () => {
    expect(status({ pipeline: 'skipped', mustPipelineSucceed: true, allowsSkippedPipeline: true })).toBe(
      'mergeable',
    );
    expect(status({ pipeline: 'failed', mustPipelineSucceed: true, allowsSkippedPipeline: true })).toBe(
      'ci_must_pass',
    );
  });
});
