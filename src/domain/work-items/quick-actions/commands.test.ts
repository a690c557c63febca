/** Quick actions: parsed lines and their effects. */
import { describe, expect, test } from 'vitest';
import { addressedNames, mentionedNames } from '../../conversation/mentions/mentions.ts';
import { awardRules, textRules } from '../../conversation/quick-actions/command-rules.ts';
import { byNames, commandsIn, interpretCommands } from '../../conversation/quick-actions/commands.ts';
import { parseDay } from './day-words.ts';
import { workCommandRules } from './work-command-rules.ts';
import type { Known } from './work-command-terms.ts';

const known: Known = {
  kind: 'issue',
  me: { id: 1, username: 'me' },
  may: { update: true, metadata: true, lock: true, promote: true },
  takesSeveral: true,
  now: {
    state: 'opened',
    confidential: false,
    locked: false,
    assigneeIds: [7],
    issueType: 'issue',
    stage: 'here',
  },
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
  milestones: new Map([
    ['v1', 11],
    ['next one', 12],
  ]),
  issues: new Map([
    ['#5', 55],
    ['g/p#6', 66],
  ]),
  epics: new Map([['&1', 101]]),
  projects: new Map([
    ['g/p', 1],
    ['g/other', 2],
  ]),
  projectId: 1,
};

const interpret = (text: string, context: Known) => interpretCommands(text, context, workCommandRules.issue);

const cases: [text: string, comesTo: Record<string, unknown>][] = [
  ['/close', { state_event: 'close' }],
  ['/CLOSE', { state_event: 'close' }],
  ['/title A better one', { title: 'A better one' }],
  ['/assign @ann @bob', { assignee_ids: [7, 2, 3] }],
  ['/assign me', { assignee_ids: [7, 1] }],
  ['/reassign @bob', { assignee_ids: [3] }],
  ['/unassign', { assignee_ids: [] }],
  ['/assign @ann\n/unassign @ann', { assignee_ids: [7] }],
  ['/label ~bug ~"two words" ~missing', { add_labels: ['bug', 'two words'] }],
  ['/label two words', { add_labels: ['two words'] }],
  ['/label ~bug\n/label ~"two words"', { add_labels: ['bug', 'two words'] }],
  ['/unlabel ~bug', { remove_labels: ['bug'] }],
  ['/relabel ~bug', { labels: ['bug'], add_labels: [], remove_labels: [] }],
  ['/milestone %v1', { milestone_id: 11 }],
  ['/milestone %"next one"', { milestone_id: 12 }],
  ['/remove_milestone', { milestone_id: null }],
  ['/due tomorrow', { due_date: '2026-02-01' }],
  ['/due in 1 month', { due_date: '2026-02-28' }],
  ['/remove_due_date', { due_date: null }],
  ['/estimate 1h 30m', { time_estimate: 5_400 }],
  ['/remove_estimate', { time_estimate: 0 }],
  ['/weight 3', { weight: 3 }],
  ['/clear_weight', { weight: null }],
  ['/health_status on track', { health_status: 'on_track' }],
  ['/type task', { issue_type: 'task' }],
  ['/confidential', { confidential: true }],
  ['/lock', { discussion_locked: true }],
  ['/duplicate #5', { duplicated_to_id: 55, state_event: 'close' }],
  ['/epic &1', { epic_id: 101 }],
  ['/remove_epic', { epic_id: null }],
];

describe('commands that change', () => {
  test.each(cases)('%j', (text, changes) => {
    const read = interpret(text, known);
    expect(read).toMatchObject({ text: '', changes, refused: [] });
    expect(read.messages.length).toBeGreaterThan(0);
  });
});

test.each([
  ['/subscribe', { do: 'subscribe' }],
  ['/todo', { do: 'todo' }],
  ['/done', { do: 'done' }],
  ['/react :tada:', { do: 'award', name: 'tada' }],
  ['/award :+1:', { do: 'award', name: '+1' }],
  ['/spend 2h 2026-01-30', { do: 'spend', seconds: 7_200, spentOn: '2026-01-30' }],
  ['/spend -1h', { do: 'spend', seconds: -3_600, spentOn: undefined }],
  ['/remove_time_spent', { do: 'reset_spent' }],
  ['/relate g/p#6', { do: 'link', issueId: 66, type: 'relates_to' }],
  ['/blocked_by #5', { do: 'link', issueId: 55, type: 'is_blocked_by' }],
  ['/move g/other', { do: 'move', projectId: 2 }],
  ['/move G/Other', { do: 'move', projectId: 2 }],
  ['/clone', { do: 'clone', projectId: 1, withNotes: false }],
  ['/clone --with_notes', { do: 'clone', projectId: 1, withNotes: true }],
  ['/clone g/other --with_notes', { do: 'clone', projectId: 2, withNotes: true }],
  ['/promote', { do: 'promote' }],
])('%j does something', (text, effect) => {
  expect(interpret(text, known)).toMatchObject({ text: '', changes: {}, effects: [effect] });
});

test.each([
  '/reopen',
  '/unlock',
  '/assign @nobody',
  '/label ~missing',
  '/milestone %missing',
  '/due 2026-02-30',
  '/due 0000-01-01',
  '/spend soon',
  '/spend 1h 0000-01-01',
  '/spend 1h 2026-02-01',
  '/weight -1',
  '/severity high',
  '/duplicate #9',
  '/epic &9',
  '/react tada',
  '/title',
  '/move',
  '/move g/p',
  '/move g/missing',
  '/clone g/missing',
])('%j means nothing here', (text) => {
  const read = interpret(text, known);
  expect(read).toMatchObject({ text: '', changes: {}, effects: [], messages: [] });
  expect(read.refused).toHaveLength(1);
});

test('who is not of the team changes what the author may, and nothing more', () => {
  const text =
    '/title Mine\n/close\n/label ~bug\n/assign me\n/lock\n/subscribe\n/move g/other\n/clone\n/promote';
  const author = { ...known, may: { update: true, metadata: false, lock: false, promote: true } };
  expect(interpret(text, author)).toMatchObject({
    changes: { title: 'Mine', state_event: 'close' },
    effects: [{ do: 'subscribe' }],
    refused: ['label', 'assign', 'lock', 'move', 'clone', 'promote'],
  });
  const guest = { ...known, may: { update: false, metadata: false, lock: false, promote: false } };
  expect(interpret(text, guest)).toMatchObject({ changes: {}, effects: [{ do: 'subscribe' }] });
});

test('an issue goes elsewhere once, when it is there and not gone yet, and becomes an epic only by who makes those', () => {
  const text = '/clone\n/move g/other\n/promote';
  expect(interpret(text, known)).toMatchObject({
    effects: [{ do: 'clone' }],
    refused: ['move', 'promote'],
  });
  const staged = (stage: 'new' | 'gone') => ({ ...known, now: { ...known.now, stage } });
  expect(interpret(text, staged('new'))).toMatchObject({ effects: [] });
  expect(interpret('/move g/other\n/promote', staged('gone'))).toMatchObject({ effects: [] });
  expect(interpret('/clone', staged('gone'))).toMatchObject({ effects: [{ do: 'clone' }] });
  const may = { update: true, metadata: true, lock: true, promote: false };
  expect(interpret('/promote', { ...known, may })).toMatchObject({ effects: [] });
});

test.each([
  ['Fine.\n\n/close\n\nBye', 'Fine.\n\n\nBye'],
  ['no /close here', 'no /close here'],
  ['```\n/close\n```', '```\n/close\n```'],
  ['~~~~\n```\n/close\n~~~~', '~~~~\n```\n/close\n~~~~'],
  ['/etc/hosts', '/etc/hosts'],
  ['/unknown thing', '/unknown thing'],
  ['/shrug who knows', 'who knows ¯\\＿(ツ)＿/¯'],
])('of %j remains %j', (text, rest) => {
  expect(interpret(text, known).text).toBe(rest);
});

test('a command is one only where there is something for it to do', () => {
  expect(commandsIn('/close\n/shrug', byNames([...awardRules, ...textRules]))).toEqual([
    { name: 'shrug', argument: '' },
  ]);
  expect(commandsIn('/due today\n/close', workCommandRules.epic)).toEqual([{ name: 'close', argument: '' }]);
});

test('more than a hundred stay text', () => {
  expect(commandsIn('/close\n'.repeat(200), workCommandRules.issue)).toHaveLength(100);
});

test.each([
  ['beyond the hundredth', `${'/todo\n'.repeat(100)}/close\n/label ~bug`, '\\/close\n\\/label ~bug'],
  ['that a command made', '/shrug /close', '\\/close ¯\\＿(ツ)＿/¯'],
  ['behind a space, in the first line', ' /close\n/todo', '\\/close'],
  [
    'in code that a command opened before',
    '/shrug ```\n```\n/close\n```',
    '``` ¯\\＿(ツ)＿/¯\n```\n\\/close\n```',
  ],
  ['in code', '```\n/close\n```\n/todo', '```\n/close\n```'],
])('a line %s is none for who saves the text again', (_, text, left) => {
  const first = interpret(text, known);
  expect(first.text).toBe(left);
  expect(commandsIn(first.text, workCommandRules.issue)).toEqual([]);
});

test('what is named twice is linked once, and no more is done than a hundred things', () => {
  const { effects } = interpret(`/relate ${'#5 '.repeat(300)}`, known);
  expect(effects).toEqual([{ do: 'link', issueId: 55, type: 'relates_to' }]);
  const many = interpret('/relate #5 g/p#6\n'.repeat(100), known);
  expect([many.effects.length, many.messages.length, many.refused.length]).toEqual([100, 50, 50]);
});

test.each([
  ['2026-02-28', '2026-02-28'],
  ['2026-02-30', undefined],
  ['in 2 weeks', '2026-02-14'],
  ['next year', '2027-01-31'],
  ['someday', undefined],
])('the day %j is %j', (text, day) => {
  expect(parseDay(text, '2026-01-31')).toBe(day);
});

test.each<[text: string, names: string[]]>([
  ['@ann, @Bob and @ann.', ['ann', 'bob']],
  ['mail ann@example.com', []],
  ['`@ann` and\n```\n@bob\n```\n@carl', ['carl']],
  ['<!-- @ann --> (@bob)', ['bob']],
  ['@first.last-one!', ['first.last-one']],
  ['@all, @Group/Sub/sub-sub. and @group/', ['all', 'group/sub/sub-sub', 'group']],
  ['a ``` @ann', ['ann']],
  ['``` @ann', []],
  ['```\r\n@ann\r\n```\r\n@bob', ['bob']],
  ['``` \u2028x\n@ann\n```\n@bob', ['bob']],
  ['```@ann``` @bob\n@carl', ['bob', 'carl']],
  ['~~~`@ann`\n@bob\n~~~ x\n@carl\n ~~~~ \n@dora', ['dora']],
  ['', []],
])('%j calls %j', (text, names) => {
  expect(mentionedNames(text)).toEqual(names);
});

test.each<[text: string, names: string[]]>([
  ['@ann @bob: look', ['ann', 'bob']],
  ['@ann and @bob look', ['ann', 'bob']],
  ['look, @ann', []],
  ['@group/sub, @all: look', ['group/sub', 'all']],
])('%j is addressed to %j', (text, names) => {
  expect(addressedNames(text)).toEqual(names);
});

test.each([
  ['backticks', '`'.repeat(100_000)],
  ['runs of backticks', '``` `` ` '.repeat(20_000)],
  ['comments without an end', '<!--'.repeat(50_000)],
  ['fences', '~~~\n'.repeat(50_000)],
  ['fences in one', '```\n~~~\n'.repeat(50_000)],
  ['names', '@a '.repeat(50_000)],
  ['spaces', `/spend ${' '.repeat(100_000)}x`],
  ['spaces in between', `/spend a${' '.repeat(1_900)}b\n`.repeat(100)],
  ['ends of names', `@a${'-'.repeat(252)}a `.repeat(4_000)],
  ['quotes', `/label ${'"a'.repeat(50_000)}`],
])('a text of many %s is read in no time', (_name, text) => {
  expect(mentionedNames(`${text} @`).length).toBeLessThan(101);
  expect(addressedNames(`${text} @`).length).toBeLessThan(101);
  expect(interpret(text, known).changes).toEqual({});
});
