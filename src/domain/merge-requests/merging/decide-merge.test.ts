/** What a request to merge leads to, and to cancel an automatic merge. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { failingConditions, mergeableConditions } from '../../../../test/support/merge-conditions.ts';
import { Failure } from '../../../platform/failure.ts';
import { renderFailure } from '../../../platform/http/messages.ts';
import { detailedMergeStatus, type MergeConditions } from '../mergeability/checks.ts';
import { decideMerge, type MergeDecision, type MergeDemand, refuseCancel } from './decide-merge.ts';

const HEAD = 'a'.repeat(40);
const OTHER = 'b'.repeat(40);
const decide = (more: Partial<MergeConditions>, demand: Partial<MergeDemand> = {}): MergeDecision =>
  decideMerge({ mayMerge: true, auto: false, ...demand }, { ...mergeableConditions, ...more }, HEAD);

/** A refusal as the client reads it. */
const short = (decision: MergeDecision | undefined): string | undefined => {
  if (!(decision instanceof Failure)) return decision;
  const { status, body } = renderFailure(decision);
  return `${status} ${body}`;
};

const NOT_ALLOWED = '405 {"message":"405 Method Not Allowed"}';
const CANNOT = '422 {"message":"Branch cannot be merged"}';
const MOVED = `409 {"message":"SHA does not match HEAD of source branch: ${HEAD}"}`;

type Row = [more: Partial<MergeConditions>, now: string, auto: string];

test.each<Row>([
  [{}, 'merge', 'merge'],
  [{ isDraft: true }, NOT_ALLOWED, 'wait'],
  [{ approvals: 'missing' }, NOT_ALLOWED, 'wait'],
  [{ approvals: 'syncing' }, NOT_ALLOWED, 'wait'],
  [{ hasRequestedChanges: true }, NOT_ALLOWED, 'wait'],
  [{ isBlocked: true }, NOT_ALLOWED, 'wait'],
  [{ hasFailedStatusChecks: true }, NOT_ALLOWED, 'wait'],
  [{ merge_after: new Date('2040-01-01') }, NOT_ALLOWED, 'wait'],
  [{ mustResolveDiscussions: true }, NOT_ALLOWED, 'wait'],
  [{ matchesTitlePattern: false }, NOT_ALLOWED, 'wait'],
  [{ state: 'closed' }, NOT_ALLOWED, NOT_ALLOWED],
  [{ state: 'merged' }, NOT_ALLOWED, NOT_ALLOWED],
  [{ state: 'locked' }, NOT_ALLOWED, NOT_ALLOWED],
  [{ hasCommits: false, merge_status: 'cannot_be_merged' }, NOT_ALLOWED, NOT_ALLOWED],
  [{ hasSourceBranch: false, merge_status: 'cannot_be_merged' }, NOT_ALLOWED, NOT_ALLOWED],
  [{ merge_status: 'cannot_be_merged' }, CANNOT, CANNOT],
  [{ merge_status: 'cannot_be_merged', isDraft: true }, NOT_ALLOWED, NOT_ALLOWED],
  [{ merge_status: 'cannot_be_merged_recheck' }, CANNOT, CANNOT],
  [{ merge_method: 'ff' }, CANNOT, CANNOT],
  [{ merge_status: 'unchecked' }, CANNOT, 'wait'],
  [{ merge_status: 'unchecked', isDraft: true }, NOT_ALLOWED, 'wait'],
  [{ pipeline: 'running' }, 'merge', 'wait'],
  [{ pipeline: 'failed' }, 'merge', 'wait'],
  [{ pipeline: 'success' }, 'merge', 'merge'],
  [{ pipeline: 'success', isDraft: true }, NOT_ALLOWED, 'wait'],
  [{ pipeline: 'running', mustPipelineSucceed: true }, NOT_ALLOWED, 'wait'],
  [{ pipeline: 'success', mustPipelineSucceed: true }, 'merge', 'merge'],
  [{ mustPipelineSucceed: true }, NOT_ALLOWED, 'wait'],
  // An automatic merge that was switched on before does not bind the user who merges now.
  [{ pipeline: 'running', isAutoMerge: true }, 'merge', 'wait'],
])('%j', (more, now, auto) => {
  expect(short(decide(more))).toBe(now);
  expect(short(decide(more, { auto: true }))).toBe(auto);
  expect(short(decide(more, { sha: HEAD }))).toBe(now);
  const refusedOrMoved = (decision: string): string => (/^4/.test(decision) ? decision : MOVED);
  expect(short(decide(more, { sha: OTHER }))).toBe(refusedOrMoved(now));
  expect(short(decide(more, { sha: OTHER, auto: true }))).toBe(refusedOrMoved(auto));
  expect(short(decide(more, { mayMerge: false, sha: OTHER }))).toBe('401 {"message":"401 Unauthorized"}');
});

test.each<[sha: string | null | undefined, decision: string]>([
  [null, 'merge'],
  [undefined, 'merge'],
  [HEAD, 'merge'],
  ['', MOVED],
  [HEAD.slice(0, 8), MOVED],
])('the commit %j as seen', (sha, decision) => expect(short(decide({}, { sha }))).toBe(decision));

test('is merged at once just when the record says that it can be', () => {
  const statuses = fc.constantFrom<MergeConditions['merge_status'][]>('can_be_merged', 'unchecked');
  fc.assert(
    fc.property(fc.subarray([...failingConditions]), statuses, (failing, merge_status) => {
      const more = Object.assign({ merge_status }, ...failing.map(([, each]) => each));
      const isMergeable = detailedMergeStatus({ ...mergeableConditions, ...more }) === 'mergeable';
      expect(decide(more) === 'merge').toBe(isMergeable);
      expect(decide(more, { auto: true }) === 'merge').toBe(isMergeable);
    }),
  );
});

describe('cancelling', () => {
  const by = (mayMerge: boolean, isAuthor: boolean) => ({ mayMerge, isAuthor });
  const REFUSED = '406 {"status":"error","http_status":406,"message":"Can\'t cancel the automatic merge"}';
  test.each<[ReturnType<typeof by>, MergeConditions['state'], boolean, string | undefined]>([
    [by(true, false), 'opened', true, undefined],
    [by(false, true), 'opened', true, undefined],
    [by(false, false), 'opened', true, '401 {"message":"401 Unauthorized"}'],
    [by(true, true), 'merged', false, NOT_ALLOWED],
    [by(true, true), 'closed', true, NOT_ALLOWED],
    [by(true, true), 'opened', false, REFUSED],
  ])('by %j of one that is %s', (caller, state, isAutoMerge, refusal) => {
    expect(short(refuseCancel(caller, { state, isAutoMerge }))).toBe(refusal);
  });
});
