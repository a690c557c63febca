/** Options of pushes, as people write them and as they get them wrong. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { type MergeRequestOptions, parsePushOptions } from './push-options.ts';

const nobody = { ids: [], usernames: [] };
const none: MergeRequestOptions = {
  create: false,
  target: undefined,
  targetProject: undefined,
  title: undefined,
  description: undefined,
  draft: undefined,
  labels: { add: [], remove: [] },
  milestone: undefined,
  assignees: { add: nobody, remove: nobody },
  removeSourceBranch: undefined,
  squash: undefined,
  autoMerge: undefined,
};

describe.each(['merge_request', 'mr'])('with the prefix %s', (prefix) => {
  test.each<[option: string, Partial<MergeRequestOptions>]>([
    ['create', { create: true }],
    ['create=true', { create: true }],
    ['create=false', { create: false }],
    ['target=main', { target: 'main' }],
    ['target = release/1.0 ', { target: 'release/1.0' }],
    ['target_project=group/sub/project', { targetProject: 'group/sub/project' }],
    ['title=A = b', { title: 'A = b' }],
    ['title=Draft: x.y', { title: 'Draft: x.y' }],
    ['description=One\\n\\n- two', { description: 'One\n\n- two' }],
    ['draft', { draft: true }],
    ['draft=0', { draft: false }],
    ['milestone=Next one', { milestone: 'Next one' }],
    ['label=bug', { labels: { add: ['bug'], remove: [] } }],
    ['unlabel=to do', { labels: { add: [], remove: ['to do'] } }],
    ['assign=ann', { assignees: { add: { ids: [], usernames: ['ann'] }, remove: nobody } }],
    ['assign=@ann', { assignees: { add: { ids: [], usernames: ['ann'] }, remove: nobody } }],
    ['assign=12', { assignees: { add: { ids: [12], usernames: [] }, remove: nobody } }],
    ['unassign=ann', { assignees: { add: nobody, remove: { ids: [], usernames: ['ann'] } } }],
    ['remove_source_branch', { removeSourceBranch: true }],
    ['remove_source_branch=False', { removeSourceBranch: false }],
    ['squash=1', { squash: true }],
    ['auto_merge', { autoMerge: true }],
    ['merge_when_pipeline_succeeds', { autoMerge: true }],
  ])('%s', (option, expected) => {
    expect(parsePushOptions([`${prefix}.${option}`])).toEqual({
      options: { ...none, ...expected },
      messages: [],
    });
  });
});

test('many say one thing together', () => {
  const { options, messages } = parsePushOptions([
    'ci.skip',
    'merge_request.create',
    'mr.label=a',
    'merge_request.label=b',
    'merge_request.label=a',
    'merge_request.assign=12',
    'merge_request.assign=@ann',
    'merge_request.auto_merge',
    'merge_request.merge_when_pipeline_succeeds',
    'merge_request.title=T',
    'merge_request.title=T',
  ]);
  expect(messages).toEqual([]);
  expect(options).toEqual({
    ...none,
    create: true,
    title: 'T',
    autoMerge: true,
    labels: { add: ['a', 'b'], remove: [] },
    assignees: { add: { ids: [12], usernames: ['ann'] }, remove: nobody },
  });
});

test.each([
  [[]],
  [['ci.skip', 'ci.variable=A=merge_request.create', 'integrations.skip_ci']],
  [
    [
      '',
      '.',
      '=',
      'create',
      'merge_request',
      'merge_requestcreate',
      'Merge_request.create',
      '.create',
      'x=mr.create',
    ],
  ],
])('%j is not about merge requests', (given) => {
  expect(parsePushOptions(given)).toEqual({ options: undefined, messages: [] });
});

test.each<[given: string[], expected: Partial<MergeRequestOptions>, messages: string[]]>([
  [['mr.creat'], {}, ['"merge_request.creat" is not a push option.']],
  [['mr.'], {}, ['"merge_request." is not a push option.']],
  [['mr.constructor'], {}, ['"merge_request.constructor" is not a push option.']],
  [['mr.a.b=c'], {}, ['"merge_request.a.b" is not a push option.']],
  [['mr.\u001b[2J\u009bx'], {}, ['"merge_request.\ufffd[2J\ufffdx" is not a push option.']],
  [['mr.squash=maybe'], {}, ['merge_request.squash takes true or false, not "maybe".']],
  [['mr.title'], {}, ['merge_request.title needs a value: merge_request.title=VALUE.']],
  [['mr.label= '], {}, ['merge_request.label needs a value: merge_request.label=VALUE.']],
  [
    ['mr.target=a', 'mr.target=b'],
    { target: 'b' },
    ['merge_request.target has different values: the last one counts.'],
  ],
  [
    ['mr.auto_merge', 'mr.merge_when_pipeline_succeeds=false'],
    { autoMerge: false },
    ['merge_request.merge_when_pipeline_succeeds has different values: the last one counts.'],
  ],
  [
    ['mr.label=a', 'mr.unlabel=a', 'mr.label=b'],
    { labels: { add: ['b'], remove: ['a'] } },
    ['merge_request.label and merge_request.unlabel both have "a": it is removed.'],
  ],
  [
    ['mr.unassign=ann', 'mr.assign=ann'],
    { assignees: { add: nobody, remove: { ids: [], usernames: ['ann'] } } },
    ['merge_request.assign and merge_request.unassign both have "ann": it is removed.'],
  ],
])('%j is said to be wrong', (given, expected, messages) => {
  expect(parsePushOptions(given)).toEqual({ options: { ...none, ...expected }, messages });
});

test('a push adds two hundred labels at most, and is told of twenty mistakes', () => {
  const given = Array.from({ length: 250 }, (_, index) => `mr.label=l${index}`);
  const { options, messages } = parsePushOptions([...given, 'mr.label=l0']);
  expect(options?.labels.add).toEqual(given.slice(0, 200).map((option) => option.slice('mr.label='.length)));
  expect(messages).toHaveLength(21);
  expect(messages[0]).toBe('merge_request.label is given more than 200 times: "l200" is left out.');
  expect(messages.at(-1)).toBe('There are 30 more such options.');
});

test('whatever is pushed, messages are short lines', () => {
  const part = fc.oneof(
    fc.constantFrom(
      'mr.',
      'merge_request.',
      'label',
      'title',
      'draft',
      'assign',
      '=',
      '.',
      ' ',
      'true',
      '\u001b[31m',
    ),
    fc.string({ unit: 'binary', maxLength: 300 }),
  );
  const option = fc.array(part, { maxLength: 6 }).map((parts) => parts.join(''));
  fc.assert(
    fc.property(fc.array(option), (given) => {
      for (const message of parsePushOptions(given).messages) {
        expect(message).not.toMatch(/[\p{C}\p{Zl}\p{Zp}]/u);
        expect(message.length).toBeLessThan(1_000);
      }
    }),
  );
});
