/** System notes, word by word. */
import { describe, expect, test } from 'vitest';
import { mergeRequestNotes as notes } from './system-notes.ts';

const [ann, bob, cat] = ['ann', 'bob', 'cat'].map((username) => ({ username })) as [
  { username: string },
  { username: string },
  { username: string },
];
const SHA = '0123456789abcdef0123456789abcdef01234567';

test.each<[note: { body: string; action: string }, action: string, body: string]>([
  [notes.draftFromCommit(SHA), 'title', `marked this merge request as **draft** from ${SHA}`],
  [notes.reviewers([ann], []), 'reviewer', 'requested review from @ann'],
  [notes.reviewers([], [bob]), 'reviewer', 'removed review request for @bob'],
  [
    notes.reviewers([ann, bob], [cat]),
    'reviewer',
    'requested review from @ann and @bob and removed review request for @cat',
  ],
  [notes.reviewers([ann, bob, cat], []), 'reviewer', 'requested review from @ann, @bob, and @cat'],
  [notes.reviewAgain(ann, false), 'reviewer', 'requested review from @ann'],
  [notes.reviewAgain(ann, true), 'reviewer', 'requested review from @ann and removed approval'],
  [notes.approved(), 'approved', 'approved this merge request'],
  [notes.unapproved(), 'unapproved', 'unapproved this merge request'],
  [
    notes.approvalsReset([{ username: 'a' }, { username: 'b' }, { username: 'c' }]),
    'approvals_reset',
    'reset approvals from @a, @b, and @c by pushing to the branch',
  ],
  [notes.changesRequested(), 'requested_changes', 'requested changes'],
  [notes.reviewed(), 'reviewed', 'left review comments'],
  [notes.targetBranch('main', 'next'), 'branch', 'changed target branch from `main` to `next`'],
  [
    notes.retargeted('topic', 'main'),
    'branch',
    'deleted the `topic` branch. This merge request now targets the `main` branch',
  ],
  [notes.sourceBranchDeleted('topic'), 'branch', 'deleted source branch `topic`'],
  [notes.sourceBranchRestored('topic'), 'branch', 'restored source branch `topic`'],
  [notes.sourceBranchDeleted('a`b``c'), 'branch', 'deleted source branch ``` a`b``c ```'],
  [notes.threadsResolved(), 'discussion', 'resolved all threads'],
  [notes.outdated('line', 2, '/u'), 'outdated', 'changed this line in [version 2 of the diff](/u)'],
  [notes.outdated('file', 3, undefined), 'outdated', 'changed this file in version 3 of the diff'],
  [notes.autoMerge(SHA), 'merge', `enabled an automatic merge when all merge checks for ${SHA} pass`],
  [notes.autoMergeCanceled(), 'merge', 'canceled the automatic merge'],
  [
    notes.autoMergeAborted('source_updated'),
    'merge',
    'aborted the automatic merge because the source branch was updated',
  ],
  [
    notes.autoMergeAborted('target_updated'),
    'merge',
    'aborted the automatic merge because target branch was updated',
  ],
  [
    notes.autoMergeAborted('target_changed'),
    'merge',
    'aborted the automatic merge because target branch was changed',
  ],
  [
    notes.autoMergeAborted('closed'),
    'merge',
    'aborted the automatic merge because the merge request was closed',
  ],
  [notes.mentioned('merge request', '!2'), 'cross_reference', 'mentioned in merge request !2'],
  [notes.mentioned('issue', 'g/p#1'), 'cross_reference', 'mentioned in issue g/p#1'],
  [notes.mentioned('commit', SHA), 'cross_reference', `mentioned in commit ${SHA}`],
  [
    notes.picked('next', '/g/p/-/tree/next', SHA),
    'cherry_pick',
    `picked the changes into the branch [\`next\`](/g/p/-/tree/next) with commit ${SHA}`,
  ],
  [
    notes.onIssue.branchCreated('1-fix', '/g/p/-/compare/main...1-fix'),
    'branch',
    'created branch [`1-fix`](/g/p/-/compare/main...1-fix) to address this issue',
  ],
  [notes.onIssue.mergeRequestCreated('!1'), 'merge', 'created merge request !1 to address this issue'],
  [notes.onIssue.closedBy('g/p!1'), 'closed', 'closed via merge request g/p!1'],
])('%j', (note, action, body) => {
  expect(note).toEqual({ action, body });
});

describe('a new title', () => {
  const draft = 'marked this merge request as **draft**';
  const ready = 'marked this merge request as **ready**';

  test.each<[from: string, to: string, bodies: string[]]>([
    ['One', 'One', []],
    ['One', 'Two', ['changed title from **{-One-}** to **{+Two+}**']],
    ['One', 'Draft: One', [draft]],
    ['[draft] One', 'One', [ready]],
    ['[draft] One', 'Draft: One', []],
    ['One', 'Draft: Two', [draft, 'changed title from **{-One-}** to **{+Draft: Two+}**']],
    ['Draft: One', 'One more', [ready, 'changed title from **{-Draft: On-}e** to **{+One mor+}e**']],
  ])('from %j to %j', (from, to, bodies) => {
    expect(notes.title(from, to).map(({ body }) => body)).toEqual(bodies);
  });
});
