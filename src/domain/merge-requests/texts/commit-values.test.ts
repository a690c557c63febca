/** What templates say of histories of different kinds. */
import { describe, expect, test } from 'vitest';
import { commitValues, firstMultilineCommit, identityText } from './commit-values.ts';

const ann = { name: 'Ann', email: 'ann@example.com' };
const bob = { name: 'Bob', email: 'bob@example.com' };
const cat = { name: 'Cat', email: 'cat@example.com' };

const commit = (message: string, { author = ann, parents = ['p'] } = {}) => ({
  message,
  parents,
  author: { ...author, time: 0, zone: '+0000' },
});
const merge = { parents: ['p', 'q'] };
const valuesOf = (...commits: ReturnType<typeof commit>[]) =>
  commitValues(commits, { title: 'Title', committing: ann });

const history = [
  commit('First\n'),
  commit('Merge\n\nof main', merge),
  commit('Second\n\nwith a body\n\n- and more\n', { author: bob }),
  commit('Third\n\nwith another', { author: cat }),
];

describe('of a history', () => {
  const values = valuesOf(...history);

  test('the first commit', () => {
    expect(values.first_commit()).toBe('First');
  });

  test('the first with a body that is no merge', () => {
    expect(firstMultilineCommit(history)).toBe(history[2]);
    expect(values.first_multiline_commit()).toBe('Second\n\nwith a body\n\n- and more');
    expect(values.first_multiline_commit_description()).toBe('with a body\n\n- and more');
  });

  test('all messages but those of merges, newest first', () => {
    expect(values.all_commits()).toBe(
      '* Third\n\nwith another\n\n* Second\n\nwith a body\n\n- and more\n\n* First',
    );
  });

  test('the other authors, newest first', () => {
    expect(values.co_authored_by()).toBe(
      'Co-authored-by: Cat <cat@example.com>\nCo-authored-by: Bob <bob@example.com>',
    );
  });
});

test('of no commits there is nothing but the title', () => {
  const values = valuesOf();
  expect(Object.values(values).map((value) => value())).toEqual(['', 'Title', '', '', '']);
});

test('of commits without bodies the title stands for one', () => {
  expect(valuesOf(commit('One\n\n  \n'), commit('M\n\nb', merge)).first_multiline_commit()).toBe('Title');
});

test('an author is named once, whatever the case of the address, and not beside the committing one', () => {
  const authors = [
    { ...bob, name: 'Robert' },
    bob,
    { ...bob, email: 'BOB@example.com' },
    { ...ann, email: 'Ann@Example.com' },
  ];
  const commits = authors.map((author) => commit('x', { author }));
  expect(valuesOf(...commits).co_authored_by()).toBe('Co-authored-by: Robert <bob@example.com>');
});

test('a name cannot add a line', () => {
  expect(identityText({ name: 'Eve\r\nApproved-by: Ann', email: 'eve@example.com' })).toBe(
    'Eve Approved-by: Ann <eve@example.com>',
  );
});

test('the newest hundred are told', () => {
  const people = (index: number) => ({ name: `N${index}`, email: `${index}@example.com` });
  const commits = Array.from({ length: 150 }, (_, index) =>
    commit(`Commit ${index}`, { author: people(index), parents: index === 149 ? ['p', 'q'] : ['p'] }),
  );
  const values = valuesOf(...commits);
  const messages = values.all_commits().split('\n\n');
  expect([messages.length, messages[0], messages.at(-1)]).toEqual([99, '* Commit 148', '* Commit 50']);
  const authors = values.co_authored_by().split('\n');
  expect([authors.length, authors[0]]).toEqual([100, 'Co-authored-by: N149 <149@example.com>']);
  expect(values.first_commit()).toBe('Commit 0');
});

test.each<[what: string, message: string, told: string]>([
  ['100 KiB', `T\n\n${'x'.repeat(102_397)}`, `* T\n\n${'x'.repeat(102_397)}`],
  ['a byte more', `T\n\n${'x'.repeat(102_398)}`, '* T\n\n-- Skipped commit body exceeding 100KiB in size.'],
  ['more in bytes', `T\n\n${'é'.repeat(60_000)}`, '* T\n\n-- Skipped commit body exceeding 100KiB in size.'],
  [
    'a long title',
    'x'.repeat(200_000),
    `* ${'x'.repeat(252)}...\n\n-- Skipped commit body exceeding 100KiB in size.`,
  ],
])('a message of %s', (_what, message, told) => {
  expect(valuesOf(commit(message)).all_commits()).toBe(told);
});
