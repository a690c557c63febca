import { describe, expect, test } from 'vitest';
import type { Level } from '../../../kernel/namespaces/notification-levels.ts';
import { type Reason, reasons } from '../events/events.ts';
import { type EventChoices, type NotificationEventName, notificationEvents } from '../settings/levels.ts';
import type { Setting } from '../settings/notification-settings.ts';
import {
  audienceKind,
  type Candidate,
  notificationReason,
  type Participation,
  reachesWatchers,
  uninvolved,
} from './audience.ts';

const ACTOR = 1;
const PERSON = 2;

type Given = Partial<Omit<Candidate, 'participation'>> & { participation?: Partial<Participation> };

/** A reachable member at the level `participating`, without any relation to the subject. */
const candidate = ({ participation, ...given }: Given = {}): Candidate => ({
  id: PERSON,
  state: 'active',
  kind: 'human',
  confirmed: true,
  member: true,
  canRead: true,
  emailsDisabled: false,
  settings: { groups: [], global: at('participating'), notifiedOfOwn: false },
  ...given,
  participation: { ...uninvolved, ...participation },
});

function at(level: Level, events: EventChoices = {}): Setting {
  return { level, events };
}

const setTo = (setting: Setting, notifiedOfOwn = false): Candidate['settings'] => ({
  groups: [],
  global: setting,
  notifiedOfOwn,
});

const asked = (event: NotificationEventName, person: Candidate): Reason | '-' =>
  notificationReason({ name: event, actorId: ACTOR }, person) ?? '-';

const stances: Record<string, Partial<Participation>> = {
  nobody: {},
  mentioned: { mentioned: true },
  assigned: { assigned: true },
  'assigned and mentioned': { assigned: true, mentioned: true },
  'no longer assigned': { wasAssigned: true },
  reviewer: { reviewing: true },
  'no longer reviewer': { wasReviewing: true },
  author: { author: true },
  'took part': { participates: true },
  subscribed: { subscribed: true },
  'subscribed to a label': { labelSubscribed: true },
  unsubscribed: { subscribed: false },
  'unsubscribed author': { subscribed: false, author: true, participates: true },
  'unsubscribed from it, not from its label': { subscribed: false, labelSubscribed: true },
  'unsubscribed, and mentioned': { subscribed: false, mentioned: true },
  'unsubscribed, and assigned': { subscribed: false, assigned: true, participates: true },
  'unsubscribed, and no longer assigned': { subscribed: false, wasAssigned: true },
  approver: { approver: true },
  'approver who took part': { approver: true, participates: true },
  owner: { owner: true },
};

const columns = ['disabled', 'mention', 'participating', 'watch', 'custom', 'chosen', 'refused'] as const;

/** `chosen` and `refused` are the level `custom` with the event switched on and off. */
function settingOf(column: (typeof columns)[number], event: NotificationEventName): Setting {
  if (column === 'chosen') return at('custom', { [event]: true });
  if (column === 'refused') return at('custom', { [event]: false });
  return at(column);
}

/** One case for each cell: a user with this relation, at that level, is notified for that reason. */
function cells(events: readonly NotificationEventName[], table: string) {
  const rows = table.trim().split('\n');
  return events.flatMap((event) =>
    rows.flatMap((row) => {
      const [who = '', ...responses] = row.split('|').map((cell) => cell.trim());
      const stance = stances[who];
      if (!stance || responses.length !== columns.length) throw new Error(`not a row: ${row}`);
      return columns.map((column, index) => ({ event, who, column, stance, answer: responses[index] }));
    }),
  );
}

const ordinary: readonly NotificationEventName[] = [
  'new_issue',
  'new_note',
  'close_issue',
  'reopen_issue',
  'new_merge_request',
  'close_merge_request',
  'reopen_merge_request',
  'merge_merge_request',
  'merge_when_pipeline_succeeds',
  'new_epic',
  'new_release',
];

const tables = [
  // disabled | mention | participating | watch | custom | custom, chosen | custom, refused
  cells(
    ordinary,
    `
    nobody                                   | - | -          | -             | watching      | -             | custom        | -
    mentioned                                | - | mentioned  | mentioned     | mentioned     | mentioned     | mentioned     | mentioned
    assigned                                 | - | -          | assigned      | assigned      | assigned      | assigned      | assigned
    assigned and mentioned                   | - | mentioned  | assigned      | assigned      | assigned      | assigned      | assigned
    author                                   | - | -          | author        | author        | author        | author        | author
    took part                                | - | -          | participating | participating | participating | participating | participating
    subscribed                               | - | subscribed | subscribed    | subscribed    | subscribed    | subscribed    | subscribed
    subscribed to a label                    | - | subscribed | subscribed    | subscribed    | subscribed    | subscribed    | subscribed
    unsubscribed                             | - | -          | -             | -             | -             | -             | -
    unsubscribed author                      | - | -          | -             | -             | -             | -             | -
    unsubscribed from it, not from its label | - | -          | -             | -             | -             | -             | -
    unsubscribed, and mentioned              | - | mentioned  | mentioned     | mentioned     | mentioned     | mentioned     | mentioned
    `,
  ),
  cells(
    ['reassign_issue', 'reassign_merge_request'],
    `
    nobody                                   | - | -          | -             | watching      | -             | custom        | -
    assigned                                 | - | assigned   | assigned      | assigned      | assigned      | assigned      | assigned
    no longer assigned                       | - | unassigned | unassigned    | unassigned    | unassigned    | unassigned    | unassigned
    took part                                | - | -          | participating | participating | participating | participating | participating
    unsubscribed                             | - | -          | -             | -             | -             | -             | -
    unsubscribed, and assigned               | - | assigned   | assigned      | assigned      | assigned      | assigned      | assigned
    unsubscribed, and no longer assigned     | - | unassigned | unassigned    | unassigned    | unassigned    | unassigned    | unassigned
    `,
  ),
  cells(
    ['change_reviewer_merge_request'],
    `
    nobody                                   | - | -                | -                | watching         | -                | custom           | -
    reviewer                                 | - | review_requested | review_requested | review_requested | review_requested | review_requested | review_requested
    no longer reviewer                       | - | unassigned       | unassigned       | unassigned       | unassigned       | unassigned       | unassigned
    author                                   | - | -                | author           | author           | author           | author           | author
    unsubscribed                             | - | -                | -                | -                | -                | -                | -
    `,
  ),
  // Nobody can choose it, whatever is stored.
  cells(
    ['resolve_all_threads', 'approve_merge_request', 'unapprove_merge_request'],
    `
    nobody                                   | - | -          | -             | watching      | -             | -             | -
    author                                   | - | -          | author        | author        | author        | author        | author
    took part                                | - | -          | participating | participating | participating | participating | participating
    subscribed                               | - | subscribed | subscribed    | subscribed    | subscribed    | subscribed    | subscribed
    unsubscribed                             | - | -          | -             | -             | -             | -             | -
    `,
  ),
  // Watchers are notified of these only as participants.
  cells(
    ['push_to_merge_request', 'issue_due'],
    `
    nobody                                   | - | -          | -             | -             | -             | custom        | -
    author                                   | - | -          | author        | author        | author        | author        | author
    took part                                | - | -          | participating | participating | participating | participating | participating
    subscribed                               | - | subscribed | subscribed    | subscribed    | subscribed    | subscribed    | subscribed
    unsubscribed                             | - | -          | -             | -             | -             | -             | -
    unsubscribed author                      | - | -          | -             | -             | -             | -             | -
    `,
  ),
  cells(
    ['failed_pipeline', 'fixed_pipeline'],
    `
    nobody                                   | - | -          | -             | -             | -             | -             | -
    took part                                | - | -          | -             | -             | -             | -             | -
    owner                                    | - | -          | owner         | owner         | owner         | owner         | -
    `,
  ),
  cells(
    ['success_pipeline'],
    `
    nobody                                   | - | -          | -             | -             | -             | -             | -
    owner                                    | - | -          | -             | -             | -             | owner         | -
    `,
  ),
  cells(
    ['moved_project'],
    `
    nobody                                   | - | member     | member        | member        | member        | member        | -
    `,
  ),
  cells(
    ['approver'],
    `
    nobody                                   | - | -          | -             | -             | -             | -             | -
    approver                                 | - | -          | -             | -             | -             | custom        | -
    approver who took part                   | - | -          | -             | -             | -             | -             | -
    `,
  ),
].flat();

describe('what each level hears', () => {
  test.each(tables)('$event: $who, $column: $answer', ({ event, stance, column, answer: response }) => {
    const settings = setTo(settingOf(column, event));
    expect(asked(event, candidate({ settings, participation: stance }))).toBe(response);
  });

  test('the tables have each event, and each reason but the one of own doing', () => {
    expect(new Set(tables.map(({ event }) => event))).toEqual(new Set(notificationEvents));
    const given = new Set(tables.map(({ answer: response }) => response));
    expect(reasons.filter((reason) => !given.has(reason))).toEqual(['own_activity']);
  });
});

describe('which setting counts', () => {
  const [watch, disabled, above] = [at('watch'), at('disabled'), at('global')];
  test.each<[string, Setting | undefined, Setting[], Setting, Reason | '-']>([
    ['nothing but the global one', undefined, [], watch, 'watching'],
    ['the project before the global one', watch, [], disabled, 'watching'],
    ['the project before its group', disabled, [watch], watch, '-'],
    ['the nearest group before those above it', undefined, [watch, disabled], disabled, 'watching'],
    ['the nearest group that silences', undefined, [disabled, watch], watch, '-'],
    ['a group before the global one', undefined, [disabled], watch, '-'],
    ['the project passes on to its group', above, [watch], disabled, 'watching'],
    ['a group passes on to the one above', above, [above, watch, disabled], disabled, 'watching'],
    ['all pass on', above, [above, above], watch, 'watching'],
    ['all pass on to silence', above, [above], disabled, '-'],
    ['the project takes part only', at('participating'), [watch], watch, '-'],
    ['the project hears calls only', at('mention'), [watch], watch, '-'],
    ['choices of the project', at('custom', { new_issue: true }), [disabled], disabled, 'custom'],
    ['choices of a group', undefined, [at('custom', { new_issue: true })], disabled, 'custom'],
    ['choices of all', undefined, [], at('custom', { new_issue: true }), 'custom'],
    ['choices are not mixed', at('custom', { new_note: true }), [], at('custom', { new_issue: true }), '-'],
    ['choices of another level are not heard', at('participating', { new_issue: true }), [], watch, '-'],
  ])('%s', (_, project, groups, global, response) => {
    const settings = { ...(project && { project }), groups, global, notifiedOfOwn: false };
    expect(asked('new_issue', candidate({ settings }))).toBe(response);
  });

  const outsider = { member: false };
  test.each<[string, Given, NotificationEventName, Reason | '-']>([
    ['watching all is not watching every public project', { settings: setTo(watch) }, 'new_issue', '-'],
    ['nor is choosing', { settings: setTo(at('custom', { new_issue: true })) }, 'new_issue', '-'],
    [
      'whoever takes part need be no member',
      { settings: setTo(watch), participation: { participates: true } },
      'new_note',
      'participating',
    ],
    [
      'whoever is called need be no member',
      { settings: setTo(at('mention')), participation: { mentioned: true } },
      'new_note',
      'mentioned',
    ],
    [
      'a public project can be watched by all',
      { settings: { ...setTo(disabled), project: watch } },
      'new_issue',
      'watching',
    ],
    [
      'and its releases',
      { settings: { ...setTo(disabled), project: at('custom', { new_release: true }) } },
      'new_release',
      'custom',
    ],
    ['so can a group', { settings: { ...setTo(disabled), groups: [watch] } }, 'new_issue', 'watching'],
    [
      'only members hear that it moved',
      { settings: { ...setTo(watch), project: watch } },
      'moved_project',
      '-',
    ],
    ['a pipeline is its owner’s', { participation: { owner: true } }, 'failed_pipeline', 'owner'],
  ])('outside: %s', (_, given, event, response) => {
    expect(asked(event, candidate({ ...outsider, ...given }))).toBe(response);
  });
});

describe('who is not reached', () => {
  const ways: Given[] = [
    { settings: setTo(at('watch')) },
    { participation: { mentioned: true } },
    { participation: { assigned: true } },
    { participation: { subscribed: true } },
  ];
  const hindrances: [string, Given][] = [
    ['blocked', { state: 'blocked' }],
    ['deactivated', { state: 'deactivated' }],
    ['banned', { state: 'banned' }],
    ['waiting for approval', { state: 'blocked_pending_approval' }],
    ['unconfirmed', { confirmed: false }],
    ['a project’s bot', { kind: 'project_bot' }],
    ['a group’s bot', { kind: 'group_bot' }],
    ['the ghost', { kind: 'ghost' }],
    ['who cannot see it', { canRead: false }],
    ['where mail is switched off', { emailsDisabled: true }],
  ];
  const all = hindrances.flatMap(([name, hindrance]) =>
    ways.map((way, index) => ({ name, index, hindered: candidate({ ...way, ...hindrance }), way })),
  );
  test.each(all)('$name, way $index', ({ hindered, way }) => {
    expect(asked('new_issue', candidate(way))).not.toBe('-');
    expect(asked('new_issue', hindered)).toBe('-');
  });
  test.each(['moved_project', 'failed_pipeline', 'new_release', 'issue_due', 'approver'] as const)(
    'blocked: %s',
    (event) => {
      const settings = setTo(at('custom', { [event]: true }));
      const given = { settings, participation: { owner: true, approver: true } };
      expect(asked(event, candidate(given))).not.toBe('-');
      expect(asked(event, candidate({ ...given, state: 'blocked' }))).toBe('-');
    },
  );
});

describe('own doing', () => {
  const by = (event: NotificationEventName, given: Given, own: boolean) =>
    notificationReason(
      { name: event, actorId: PERSON },
      candidate({ ...given, settings: setTo(at('participating'), own) }),
    );
  test.each<[NotificationEventName, Partial<Participation>]>([
    ['new_issue', { author: true }],
    ['new_issue', { assigned: true }],
    ['new_note', { participates: true }],
    ['new_note', { mentioned: true }],
    ['close_issue', { subscribed: true }],
    ['reassign_issue', { assigned: true }],
    ['reassign_issue', { wasAssigned: true }],
    ['push_to_merge_request', { author: true }],
    ['merge_merge_request', { author: true }],
  ])('%s by themselves, %o', (event, participation) => {
    expect(by(event, { participation }, false)).toBeUndefined();
    expect(by(event, { participation }, true)).toBe('own_activity');
  });
  test('asking for own doing asks for nothing else', () => {
    expect(by('new_issue', {}, true)).toBeUndefined();
    expect(by('new_issue', { participation: { author: true, subscribed: false } }, true)).toBeUndefined();
    expect(asked('new_issue', candidate({ settings: setTo(at('participating'), true) }))).toBe('-');
  });
  test('what nobody did is nobody’s own', () => {
    const participation = { author: true, owner: true };
    for (const event of ['issue_due', 'failed_pipeline', 'moved_project'] as const)
      expect(
        notificationReason({ name: event, actorId: undefined }, candidate({ participation })),
      ).toBeDefined();
  });
});

describe('where the people of an event are looked for', () => {
  const unwatched = ['push_to_merge_request', 'issue_due', 'moved_project', 'approver'];
  const pipelines = ['failed_pipeline', 'fixed_pipeline', 'success_pipeline'];
  test.each(notificationEvents)('%s', (event) => {
    const [kind] = [
      pipelines.includes(event) ? 'owner' : [],
      event === 'moved_project' ? 'members' : [],
      event === 'approver' ? 'approvers' : [],
      'thread',
    ].flat();
    expect(audienceKind(event)).toBe(kind);
    expect(reachesWatchers(event)).toBe(!unwatched.includes(event) && !pipelines.includes(event));
  });

  test.each(notificationEvents)('%s reaches the watchers that are looked for, and no others', (event) => {
    const job = asked(event, candidate({ settings: setTo(at('watch')) })) === 'watching';
    expect(job).toBe(reachesWatchers(event));
  });
});
