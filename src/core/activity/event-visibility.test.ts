/** Every kind of event under every ability that decides its visibility. */
import { expect, test } from 'vitest';
import type { ProjectAbility } from '../access/policy.ts';
import { GUEST, NO_ACCESS, PRIVATE, PUBLIC, type Role } from '../access/roles.ts';
import type { Actor } from '../identity/actor.ts';
import type { EventIssue, EventNote } from './event-rows.ts';
import { type JudgedEvent, seesEvent } from './event-visibility.ts';

const CALLER = 7;
const caller = { id: CALLER, admin: false, auditor: false, external: false } as Actor;

const issue: EventIssue = {
  id: 1,
  iid: 1,
  title: 'Arch',
  confidential: false,
  author_id: 2,
  assigned: false,
};
const note: EventNote = {
  id: 1,
  internal: false,
  in_thread: false,
  positioned: false,
  system_action: null,
  issue_id: null,
  epic_id: null,
  snippet_id: null,
  alert_id: null,
};
const nothing = {
  target_type: null,
  issue: null,
  note: null,
  snippet: null,
  milestone: null,
  wiki_page: null,
};
const of = (action: string, given: Partial<JudgedEvent> = {}): JudgedEvent => ({
  ...nothing,
  action,
  ...given,
});
const onIssue = (given: Partial<EventIssue> = {}, action = 'closed') =>
  of(action, { target_type: 'Issue', issue: { ...issue, ...given } });
const noteOn = (given: Partial<EventNote>, rest: Partial<JudgedEvent> = {}) =>
  of('commented', { target_type: 'Note', note: { ...note, ...given }, ...rest });
const milestone = { iid: 1, title: 'One' };

/** The event, with the abilities that are needed and enough; undefined where the event is always hidden. */
const cases: readonly [string, JudgedEvent, readonly ProjectAbility[] | undefined][] = [
  ['a push', of('pushed'), ['read_code']],
  ['the creation of the project', of('created'), ['read_project']],
  ['somebody joins', of('joined'), ['read_project']],
  ['somebody leaves', of('left'), ['read_project']],
  ['a membership expires', of('expired'), ['read_project']],
  ['something unknown', of('danced'), undefined],
  ['something on a type unknown', of('created', { target_type: 'Tree' }), undefined],
  ['a type that is a property of all objects', of('created', { target_type: 'constructor' }), undefined],
  ['an action that is a property of all objects', of('constructor'), undefined],
  ['an issue', onIssue(), ['read_issues']],
  ['an issue that begins', onIssue({}, 'created'), ['read_issues']],
  ['an issue that is gone', of('closed', { target_type: 'Issue' }), undefined],
  ['a confidential issue', onIssue({ confidential: true }), ['read_issues', 'read_confidential_issues']],
  ['a confidential issue of the caller', onIssue({ confidential: true, author_id: CALLER }), ['read_issues']],
  ['a confidential issue for the caller', onIssue({ confidential: true, assigned: true }), ['read_issues']],
  ['a note that is gone', of('commented', { target_type: 'Note' }), undefined],
  ['a note on an issue', noteOn({ issue_id: 1 }, { issue }), ['read_issues']],
  [
    'a note in a thread',
    { ...noteOn({ issue_id: 1 }, { issue }), target_type: 'DiscussionNote' },
    ['read_issues'],
  ],
  ['a note on an alert', noteOn({ alert_id: 1 }), ['read_alerts']],
  ['a note on a line', { ...noteOn({}), target_type: 'DiffNote' }, ['read_code']],
  ['a note on an issue that is elsewhere', noteOn({ issue_id: 1 }), undefined],
  [
    'a note on a confidential issue',
    noteOn({ issue_id: 1 }, { issue: { ...issue, confidential: true } }),
    ['read_issues', 'read_confidential_issues'],
  ],
  [
    'an internal note',
    noteOn({ issue_id: 1, internal: true }, { issue }),
    ['read_issues', 'read_internal_notes'],
  ],
  ['a note on a commit', noteOn({}), ['read_code']],
  ['an internal note on a commit', noteOn({ internal: true }), ['read_code', 'read_internal_notes']],
  ['a note on an epic', noteOn({ epic_id: 1 }), undefined],
  [
    'a note on a public snippet',
    noteOn({ snippet_id: 1 }, { snippet: { visibility: PUBLIC, title: 'Arch' } }),
    ['read_project_snippets'],
  ],
  ['a note on a snippet that is gone', noteOn({ snippet_id: 1 }), undefined],
  ['a milestone', of('created', { target_type: 'Milestone', milestone }), ['read_planning']],
  ['a milestone that is destroyed', of('destroyed', { target_type: 'Milestone' }), ['read_planning']],
  ['a milestone that is gone', of('closed', { target_type: 'Milestone' }), undefined],
  ['a wiki page', of('updated', { target_type: 'WikiPage::Meta', wiki_page: milestone }), ['read_wiki']],
  ['a wiki page that is destroyed', of('destroyed', { target_type: 'WikiPage::Meta' }), ['read_wiki']],
  ['a wiki page that is gone', of('created', { target_type: 'WikiPage::Meta' }), undefined],
];

const everything: readonly ProjectAbility[] = [
  'read_project',
  'read_code',
  'read_issues',
  'read_confidential_issues',
  'read_internal_notes',
  'read_project_snippets',
  'read_planning',
  'read_wiki',
  'read_alerts',
];
const projectFor = (may: readonly ProjectAbility[], role: Role = GUEST) => ({
  role,
  may: (ability: ProjectAbility) => may.includes(ability),
});

test.each(cases)('%s: what it takes to see it', (_name, event, needed) => {
  expect(seesEvent(projectFor(everything), caller, event)).toBe(needed !== undefined);
  if (!needed) return;
  expect(seesEvent(projectFor(needed), caller, event)).toBe(true);
  for (const missing of needed)
    expect([
      missing,
      seesEvent(projectFor(everything.filter((each) => each !== missing)), caller, event),
    ]).toEqual([missing, false]);
});

test.each([
  [PRIVATE, GUEST, caller, true],
  [PRIVATE, NO_ACCESS, caller, false],
  [PRIVATE, NO_ACCESS, undefined, false],
  [PUBLIC, NO_ACCESS, undefined, true],
] as const)('a note on a snippet of visibility %d, with the role %d', (visibility, role, who, seen) => {
  const event = noteOn({ snippet_id: 1 }, { snippet: { visibility, title: 'Arch' } });
  expect(seesEvent(projectFor(['read_project_snippets'], role), who, event)).toBe(seen);
});

test('nobody is the author or assignee of a confidential issue', () => {
  const event = onIssue({ confidential: true, author_id: 0, assigned: true });
  expect(seesEvent(projectFor(['read_issues']), undefined, event)).toBe(false);
});
