/** Permitted parts of requests, differences, and their system notes. */
import { describe, expect, test } from 'vitest';
import { positionBetween } from '../issues/writing/position-actions.ts';
import {
  type ChangeRights,
  checkDates,
  checkTexts,
  differences,
  type IssueChanges,
  type IssueState,
  labelsAfter,
  permitted,
  resourceEvents,
  type WorkChange,
} from './issue-changes.ts';
import { markDifference, systemNote, systemNotes, type WorkOccurrence } from './system-notes.ts';

const all: ChangeRights = {
  metadata: true,
  confidentiality: true,
  lock: true,
  history: true,
  premium: true,
  ultimate: true,
};

const asked: IssueChanges & { iid?: number } = {
  title: 't',
  description: 'd',
  state_event: 'close',
  issue_type: 'task',
  assignee_ids: [1, 2],
  labels: ['l'],
  due_date: '2026-01-01',
  confidential: true,
  discussion_locked: true,
  weight: 1,
  epic_id: 1,
  health_status: 'on_track',
  created_at: new Date(0),
  iid: 7,
};

describe('permitted', () => {
  test.each<[Partial<ChangeRights>, readonly string[]]>([
    [{}, []],
    [{ metadata: false }, ['assignee_ids', 'labels', 'due_date', 'weight', 'epic_id', 'health_status']],
    [{ confidentiality: false }, ['confidential']],
    [{ lock: false }, ['discussion_locked']],
    [{ history: false }, ['created_at', 'iid']],
    [{ premium: false }, ['weight', 'epic_id']],
    [{ ultimate: false }, ['health_status']],
  ])('without %o, %o go', (rights, gone) => {
    const kept = permitted(asked, { ...all, ...rights });
    expect(Object.keys(asked).filter((key) => !(key in kept))).toEqual(gone);
  });

  test('one person is assigned below premium', () => {
    expect(permitted(asked, { ...all, premium: false }).assignee_ids).toEqual([1]);
  });
});

const before: IssueState = {
  title: 'Title',
  description: null,
  state: 'opened',
  confidential: false,
  discussion_locked: null,
  issue_type: 'issue',
  severity: 'UNKNOWN',
  start_date: null,
  due_date: null,
  weight: null,
  health_status: null,
  time_estimate: 0,
  assignees: [{ id: 1, username: 'ann' }],
  labels: [{ id: 5, name: 'five' }],
  milestone: null,
  epic: null,
  original: null,
};
const bob = { id: 2, username: 'bob' };
const cat = { id: 3, username: 'cat' };
const dan = { id: 4, username: 'dan' };
const told = (after: Partial<IssueState>): string[] =>
  differences(before, { ...before, ...after }).flatMap((change) =>
    systemNotes(change).map(({ body }) => body),
  );
const listOf = (count: number, box: string): string =>
  Array.from({ length: count }, (_, at) => `- [${box}] ${at}`).join('\n');

describe('differences', () => {
  test.each<[string, Partial<IssueState>, readonly string[]]>([
    ['nothing', {}, []],
    ['the same in other words', { description: '', discussion_locked: false }, []],
    ['a title', { title: 'Titel' }, ['changed title from **Tit{-le-}** to **Tit{+el+}**']],
    ['a description', { description: 'Text' }, ['changed the description']],
    ['people', { assignees: [bob, cat] }, ['assigned to @bob and @cat and unassigned @ann']],
    [
      'more people',
      { assignees: [...before.assignees, bob, cat, dan] },
      ['assigned to @bob, @cat, and @dan'],
    ],
    ['nobody', { assignees: [] }, ['unassigned @ann']],
    [
      'labels',
      {
        labels: [
          { id: 6, name: 'six' },
          { id: 7, name: 'seven' },
        ],
      },
      ['added ~6 ~7 labels and removed ~5 label'],
    ],
    ['a milestone', { milestone: { id: 1, reference: '%3' } }, ['changed milestone to %3']],
    ['an epic', { epic: { id: 1, reference: 'g&3' } }, ['added to epic g&3']],
    ['a duplicate', { original: { id: 1, reference: '#3' } }, ['marked this issue as a duplicate of #3']],
    ['confidential', { confidential: true }, ['made the issue confidential']],
    ['locked', { discussion_locked: true }, ['locked the discussion in this issue']],
    [
      'days',
      { start_date: '2026-01-01', due_date: '2026-12-31' },
      ['changed start date to January 1, 2026', 'changed due date to December 31, 2026'],
    ],
    ['a weight', { weight: 0 }, ['set weight to **0**']],
    ['health', { health_status: 'at_risk' }, ['set health status to **at risk**']],
    ['a type', { issue_type: 'test_case' }, ['changed type from issue to test case']],
    ['a severity', { severity: 'HIGH' }, ['changed the severity to **High - S2**']],
    ['an estimate', { time_estimate: 5_400 }, ['changed time estimate to 1h 30m']],
    ['the end', { state: 'closed' }, ['closed']],
  ])('of %s', (_what, after, notes) => {
    expect(told(after)).toEqual(notes);
  });

  test('as events', () => {
    const changes = differences(before, {
      ...before,
      state: 'closed',
      weight: 3,
      labels: [{ id: 6, name: 'six' }],
      milestone: { id: 9, reference: '%1' },
    });
    expect(resourceEvents(changes)).toEqual([
      { kind: 'label', action: 'add', labelId: 6 },
      { kind: 'label', action: 'remove', labelId: 5 },
      { kind: 'milestone', action: 'add', milestoneId: 9 },
      { kind: 'weight', weight: 3 },
      { kind: 'state', action: 'closed' },
    ]);
  });
});

test.each<[from: string, to: string, notes: string[]]>([
  ['- [ ] one', '- [x] one', ['marked the checklist item **one** as completed']],
  ['- [x] one', '- [ ] one', ['marked the checklist item **one** as incomplete']],
  [
    '- [ ] **[x](y)** @ann',
    '- [x] **[x](y)** @ann',
    ['marked the checklist item **\\*\\*\\[x\\]\\(y\\)\\*\\* @ann** as completed'],
  ],
  ['- [ ] one\n\nText', '- [x] one\n\nOther', ['marked the checklist item **one** as completed']],
  ['- [ ] one', '- [x] two', ['changed the description']],
  [
    `- [ ] ${'a'.repeat(300)}`,
    `- [x] ${'a'.repeat(300)}`,
    [`marked the checklist item **${'a'.repeat(255)}** as completed`],
  ],
  [listOf(21, ' '), listOf(21, 'x'), ['changed the description']],
])('tasks of %j become %j', (from, to, notes) => {
  const told = systemNotes({ what: 'description', from, to }).map(({ body }) => body);
  expect(told).toEqual(notes);
});

test.each<[WorkChange | WorkOccurrence, string]>([
  [{ what: 'milestone', from: { id: 1, reference: '%1' }, to: null }, 'removed milestone'],
  [{ what: 'confidential', from: true, to: false }, 'made the issue visible to everyone'],
  [{ what: 'due_date', from: '2026-01-01', to: null }, 'removed due date'],
  [{ what: 'weight', from: 1, to: null }, 'removed the weight'],
  [{ what: 'epic', from: { id: 1, reference: 'g&1' }, to: null }, 'removed from epic g&1'],
  [{ what: 'related', reference: '#3' }, 'marked this issue as related to #3'],
  [{ what: 'unrelated', reference: '#3' }, 'removed the relation with #3'],
  [{ what: 'moved_to', reference: 'g/p#3' }, 'moved to g/p#3'],
  [{ what: 'cloned_from', reference: 'g/p#3' }, 'cloned from g/p#3'],
  [{ what: 'time_spent', seconds: 3_600 }, 'added 1h of time spent'],
  [{ what: 'time_spent', seconds: -3_600 }, 'subtracted 1h of time spent'],
  [{ what: 'time_reset' }, 'removed time spent'],
  [{ what: 'continued_in', reference: '#5' }, 'created #5 to continue this discussion'],
])('%o is told', (change, body) => {
  expect(systemNote(change).body).toBe(body);
});

test.each<[WorkChange | WorkOccurrence, string]>([
  [{ what: 'title', from: 'Old', to: 'New' }, 'changed title from **{-Old-}** to **{+New+}**'],
  [{ what: 'description', from: 'a', to: null }, 'changed the description'],
  [{ what: 'assignees', added: [bob], removed: [cat] }, 'assigned to @bob and unassigned @cat'],
  [{ what: 'discussion_locked', from: null, to: true }, 'locked the discussion in this merge request'],
  [{ what: 'discussion_locked', from: true, to: false }, 'unlocked the discussion in this merge request'],
  [{ what: 'time_spent', seconds: 3_600 }, 'added 1h of time spent'],
  [{ what: 'time_estimate', from: 0, to: 57_600 }, 'changed time estimate to 2d'],
  [{ what: 'time_estimate', from: 60, to: 0 }, 'removed time estimate'],
  [{ what: 'time_reset' }, 'removed time spent'],
])('%o of a merge request is told', (change, body) => {
  expect(systemNote(change, 'merge request').body).toBe(body);
});

test.each([
  ['a', 'b', '{-a-}', '{+b+}'],
  ['same', 'same', 'same', 'same'],
  ['abc', 'abXc', 'abc', 'ab{+X+}c'],
  ['aa', 'aaa', 'aa', 'aa{+a+}'],
  ['x 😀 y', 'x 😁 y', 'x {-😀-} y', 'x {+😁+} y'],
])('%s and %s differ so', (from, to, old, fresh) => {
  expect(markDifference(from, to)).toEqual({ from: old, to: fresh });
});

describe('labelsAfter', () => {
  const [a, b, c] = ['a', 'b', 'c'].map((name, id) => ({ id, name })) as [
    { id: number; name: string },
    { id: number; name: string },
    { id: number; name: string },
  ];
  test.each([
    [{ add: [b], remove: [] }, ['a', 'b']],
    [{ add: [], remove: [a] }, []],
    [{ labels: [b, c], add: [a], remove: [c] }, ['b', 'a']],
    [{ labels: [], add: [], remove: [] }, []],
    [{ add: [a], remove: [a] }, []],
  ])('of %o', (change, names) => {
    expect(labelsAfter([a], change).map(({ name }) => name)).toEqual(names);
  });
});

test('texts and days are checked', () => {
  expect(() => checkTexts({ title: '\u3000' })).toThrow('blank');
  expect(() => checkTexts({ title: 'é'.repeat(256) })).toThrow('too long');
  expect(() => checkTexts({ title: '😀'.repeat(255), description: null })).not.toThrow();
  expect(() => checkDates({ start_date: '2026-01-02', due_date: '2026-01-01' })).toThrow('start date');
  expect(() => checkDates({ start_date: '2026-01-02', due_date: null })).not.toThrow();
});

test.each([
  [0, 10, 5],
  [0, 1, undefined],
  [-3, -1, -2],
  [undefined, 65_536, 0],
  [0, undefined, 65_536],
  [5, 5, undefined],
])('between %s and %s is %s', (lower, upper, place) => {
  expect(positionBetween(lower, upper)).toBe(place);
});
