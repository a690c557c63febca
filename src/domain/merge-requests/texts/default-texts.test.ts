/** Titles and descriptions of merge requests whose authors gave none. */
import { describe, expect, test } from 'vitest';
import { defaultTexts, issueNumberOf, type TextSources } from './default-texts.ts';

const commit = (message: string, parents = ['p']) => ({ message, parents });
const one = commit('One');
const two = commit('Two\n\nBody\n\nof two\n');
const three = commit('Three\n\nBody of three');
const merge = commit('Merge\n\nBody', ['p', 'q']);
const issue = { iid: 12, title: 'A bug', confidential: false };

const sources: TextSources = {
  given: {},
  commits: [one, commit('Uno')],
  sourceBranch: '12-fix-it',
  issue: undefined,
  autoclose: true,
};

test.each<[what: string, Partial<TextSources>, title: string, description: string | null]>([
  ['one commit', { commits: [one] }, 'One', null],
  ['one commit with a body', { commits: [two] }, 'Two', 'Body\n\nof two'],
  ['one merge', { commits: [merge] }, 'Merge', 'Body'],
  ['several, one with a body', { commits: [one, two, one] }, 'Two', 'Body\n\nof two'],
  ['several with bodies', { commits: [one, three, two] }, 'Three', 'Body of three'],
  ['a merge before', { commits: [merge, three] }, 'Three', 'Body of three'],
  ['several without bodies', {}, '12 fix it', null],
  ['several without bodies, and an issue', { issue }, 'Resolve "A bug"', 'Closes #12'],
  ['an issue that is not closed', { issue, autoclose: false }, 'Resolve "A bug"', 'Related to #12'],
  ['one commit and an issue', { commits: [one], issue }, 'One', 'Closes #12'],
  ['a body and an issue', { commits: [two], issue }, 'Two', 'Body\n\nof two\n\nCloses #12'],
  ['a confidential issue', { issue: { ...issue, confidential: true } }, '12 fix it', 'Closes #12'],
  ['no commits', { commits: [] }, 'Draft: 12 fix it', null],
  ['no commits, and an issue', { commits: [], issue }, 'Draft: Resolve "A bug"', 'Closes #12'],
  ['an empty message', { commits: [commit('\n')] }, '12 fix it', null],
  ['a given title', { given: { title: 'Mine' }, commits: [two] }, 'Mine', 'Body\n\nof two'],
  ['a given title and no commits', { given: { title: 'Mine' }, commits: [] }, 'Draft: Mine', null],
  ['a given draft and no commits', { given: { title: '[Draft] Mine' }, commits: [] }, '[Draft] Mine', null],
  [
    'a given description',
    { given: { description: 'Mine' }, commits: [two], issue },
    'Two',
    'Mine\n\nCloses #12',
  ],
  ['an empty description', { given: { description: '' }, commits: [two], issue }, 'Two', 'Closes #12'],
])('of %s', (_what, given, title, description) => {
  expect(defaultTexts({ ...sources, ...given })).toEqual({ title, description });
});

test.each([
  ['fix', 'Fix'],
  ['feature/add-some_thing', 'Feature/add some thing'],
  ['fixBugNow', 'Fix bug now'],
  ['useHTMLParser', 'Use html parser'],
  ['12-fix-it', '12 fix it'],
  ['a--b__c', 'A b c'],
  ['release-1.2', 'Release 1.2'],
  ['über-uns', 'Über uns'],
  ['_', '_'],
])('the branch %s is called %s', (sourceBranch, title) => {
  expect(defaultTexts({ ...sources, sourceBranch }).title).toBe(title);
});

describe('a long title', () => {
  const long = 'x'.repeat(300);
  const cut = `${'x'.repeat(252)}...`;

  test('of a commit is whole in the description', () => {
    const commits = [commit(`${long}\n\nBody`)];
    expect(defaultTexts({ ...sources, commits })).toEqual({ title: cut, description: `${long}\n\nBody` });
  });

  test.each<[what: string, Partial<TextSources>, beginning: string]>([
    ['an issue', { issue: { ...issue, title: 'x'.repeat(255) } }, 'Resolve "xxx'],
    ['a branch', { sourceBranch: long }, 'Xxx'],
    ['a draft', { sourceBranch: long, commits: [] }, 'Draft: Xxx'],
  ])('of %s is cut', (_what, given, beginning) => {
    const { title } = defaultTexts({ ...sources, ...given });
    expect(title.startsWith(beginning)).toBe(true);
    expect([title.length, title.slice(-4)]).toEqual([255, 'x...']);
  });

  test('that the author gave is left to the checks', () => {
    expect(defaultTexts({ ...sources, given: { title: long } }).title).toBe(long);
  });
});

test.each([
  ['12-fix', 12],
  ['012-fix', 12],
  ['12-', 12],
  ['12', undefined],
  ['0-fix', undefined],
  ['-12-fix', undefined],
  ['12_fix', undefined],
  ['fix-12-it', undefined],
  ['feature/12-fix', undefined],
  ['9999999999-fix', undefined],
])('the branch %s is named after %s', (branch, number) => {
  expect(issueNumberOf(branch)).toBe(number);
});
