/** The quick actions of merge requests: what each changes, and who may give it. */
import { describe, expect, test } from 'vitest';
import { commandsIn, interpretCommands } from '../../conversation/index.ts';
import { mergeRequestRules } from './command-rules.ts';
import type { MergeRequestKnown } from './command-terms.ts';

const known: MergeRequestKnown = {
  kind: 'merge request',
  me: { id: 1, username: 'me' },
  may: {
    update: true,
    metadata: true,
    lock: true,
    merge: true,
    rebase: true,
    approve: true,
    unapprove: true,
  },
  now: {
    state: 'opened',
    locked: false,
    title: 'Topic',
    sourceBranch: 'topic',
    targetBranch: 'main',
    assigneeIds: [7],
    reviewerIds: [2],
  },
  takesSeveral: true,
  today: '2026-01-31',
  users: new Map([
    ['ann', 2],
    ['bob', 3],
  ]),
  labels: new Set(['bug', 'two words']),
  metadata: new Map([
    ['#1', { labels: ['bug'], milestoneId: 11 }],
    ['!2', { labels: [], milestoneId: null }],
  ]),
  milestones: new Map([['v1', 11]]),
  branches: new Set(['main', 'stable']),
};
const withNow = (now: Partial<MergeRequestKnown['now']>): MergeRequestKnown => ({
  ...known,
  now: { ...known.now, ...now },
});
const interpret = (text: string, context = known) => interpretCommands(text, context, mergeRequestRules);

describe('commands that change', () => {
  test.each<[text: string, changes: Record<string, unknown>]>([
    ['/close', { state_event: 'close' }],
    ['/title Other', { title: 'Other' }],
    ['/draft', { title: 'Draft: Topic' }],
    ['/title Other\n/draft', { title: 'Draft: Other' }],
    ['/draft\n/ready', { title: 'Topic' }],
    ['/assign @ann', { assignee_ids: [7, 2] }],
    ['/reassign @bob', { assignee_ids: [3] }],
    ['/unassign', { assignee_ids: [] }],
    ['/assign_reviewer @bob me', { reviewer_ids: [2, 3, 1] }],
    ['/reviewer @bob', { reviewer_ids: [2, 3] }],
    ['/request_review @bob', { reviewer_ids: [2, 3] }],
    ['/reassign_reviewer @bob', { reviewer_ids: [3] }],
    ['/unassign_reviewer', { reviewer_ids: [] }],
    ['/reviewer @bob\n/remove_reviewer @ann', { reviewer_ids: [3] }],
    ['/label ~bug', { add_labels: ['bug'] }],
    ['/unlabel ~bug', { remove_labels: ['bug'] }],
    ['/relabel ~"two words"', { labels: ['two words'] }],
    ['/milestone %v1', { milestone_id: 11 }],
    ['/remove_milestone', { milestone_id: null }],
    ['/copy_metadata #1', { add_labels: ['bug'], milestone_id: 11 }],
    ['/relabel ~"two words"\n/copy_metadata #1', { labels: ['two words', 'bug'], milestone_id: 11 }],
    ['/milestone %v1\n/copy_metadata !2', { milestone_id: 11 }],
    ['/lock', { discussion_locked: true }],
    ['/estimate 1h', { time_estimate: 3_600 }],
    ['/remove_estimate', { time_estimate: 0 }],
    ['/target_branch stable', { target_branch: 'stable' }],
  ])('%j', (text, changes) => {
    const read = interpret(text);
    expect(read).toMatchObject({ text: '', changes, refused: [] });
    expect(read.messages).toHaveLength(text.split('\n').length);
  });
});

test.each<[text: string, effect: Record<string, unknown>]>([
  ['/merge', { do: 'merge' }],
  ['/rebase', { do: 'rebase' }],
  ['/approve', { do: 'approve' }],
  ['/unapprove', { do: 'unapprove' }],
  ['/request_review @ann', { do: 'review_again', userIds: [2] }],
  ['/spend 1h', { do: 'spend', seconds: 3_600 }],
  ['/remove_time_spent', { do: 'reset_spent' }],
  ['/subscribe', { do: 'subscribe' }],
  ['/todo', { do: 'todo' }],
  ['/award :tada:', { do: 'award', name: 'tada' }],
])('%j does something', (text, effect) => {
  expect(interpret(text)).toMatchObject({ text: '', changes: {}, effects: [effect], refused: [] });
});

test.each<[text: string, context?: MergeRequestKnown]>([
  ['/ready'],
  ['/reopen'],
  ['/unlock'],
  ['/title'],
  ['/draft', withNow({ title: 'Draft: Topic' })],
  ['/draft', withNow({ title: 'x'.repeat(255) })],
  ['/ready', withNow({ title: 'Draft: ' })],
  ['/assign_reviewer @nobody'],
  ['/request_review'],
  ['/copy_metadata'],
  ['/copy_metadata #2'],
  ['/reassign_reviewer'],
  ['/remove_reviewer @bob'],
  ['/target_branch main'],
  ['/target_branch missing'],
  ['/target_branch'],
  ['/target_branch stable', withNow({ state: 'merged' })],
  ['/close', withNow({ state: 'merged' })],
  ['/reopen', withNow({ state: 'merged' })],
  ['/close', withNow({ state: 'new' })],
  ['/reopen', withNow({ state: 'locked' })],
])('%j means nothing here', (text, context) => {
  const read = interpret(text, context);
  expect(read).toMatchObject({ text: '', changes: {}, effects: [], messages: [] });
  expect(read.refused).toHaveLength(1);
});

test('whom it removes and requests again is a new reviewer', () => {
  expect(interpret('/remove_reviewer @ann\n/request_review @ann @bob')).toMatchObject({
    changes: { reviewer_ids: [2, 3] },
    effects: [],
  });
});

test('where one is all there may be, a new one takes the place', () => {
  const context = { ...known, takesSeveral: false };
  expect(interpret('/assign @ann @bob\n/reviewer @bob @ann', context).changes).toEqual({
    assignee_ids: [2],
    reviewer_ids: [3],
  });
});

test('who reviews it asks for changes', () => {
  const effects = [{ do: 'request_changes' }];
  expect(interpret('/request_changes', withNow({ reviewerIds: [2, 1] }))).toMatchObject({ effects });
  for (const now of [{ reviewerIds: [2] }, { reviewerIds: [1], state: 'new' }])
    expect(interpret('/request_changes', withNow(now))).toMatchObject({
      effects: [],
      refused: ['request_changes'],
    });
});

const everything =
  '/title Mine\n/draft\n/target_branch stable\n/close\n/label ~bug\n/assign me\n/reviewer me\n/request_review @ann\n' +
  '/lock\n/estimate 1h\n/spend 1h\n/milestone %v1\n/merge\n/rebase\n/approve\n/unapprove\n/subscribe';
const ofTeam = [
  'label',
  'assign',
  'reviewer',
  'request_review',
  'lock',
  'estimate',
  'spend',
  'milestone',
  'merge',
  'rebase',
  'approve',
  'unapprove',
];

test('authors and others have their own rights alone', () => {
  const nothing = {
    update: false,
    metadata: false,
    lock: false,
    merge: false,
    rebase: false,
    approve: false,
    unapprove: false,
  };
  const author = interpret(everything, { ...known, may: { ...nothing, update: true } });
  expect(author.changes).toEqual({ title: 'Draft: Mine', target_branch: 'stable', state_event: 'close' });
  expect(author.refused).toEqual(ofTeam);
  const guest = interpret(everything, { ...known, may: nothing });
  expect(guest).toMatchObject({ changes: {}, effects: [{ do: 'subscribe' }] });
  const reporter = interpret('/lock\n/label ~bug', { ...known, may: { ...nothing, metadata: true } });
  expect(reporter).toMatchObject({ changes: { add_labels: ['bug'] }, refused: ['lock'] });
});

test('commands of issues alone stay text', () => {
  const text = '/due today\n/weight 3\n/confidential\n/move g/p\n/epic &1\n/duplicate #1';
  expect(commandsIn(text, mergeRequestRules)).toEqual([]);
  expect(interpret(text).text).toBe(text);
});
