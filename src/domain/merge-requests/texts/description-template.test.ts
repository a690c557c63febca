import { expect, test } from 'vitest';
import { descriptionFrom, type NewMergeRequest } from './description-template.ts';

const ann = { name: 'Ann', email: 'ann@example.com' };
const bob = { name: 'Bob', email: 'bob@example.com', time: 0, zone: '+0000' };
const mergeRequest: NewMergeRequest = {
  sourceBranch: 'topic',
  targetBranch: 'main',
  title: 'Title',
  author: ann,
  commits: [
    { message: 'One\n', parents: ['p'], author: { ...ann, time: 0, zone: '+0000' } },
    { message: 'Two\n\nBody\n', parents: ['p'], author: bob },
  ],
};

test.each([
  ['## From %{source_branch} to %{target_branch}', '## From topic to main'],
  ['%{first_commit}', 'One'],
  ['%{first_multiline_commit}', 'Two\n\nBody'],
  ['%{first_multiline_commit_description}', 'Body'],
  ['%{co_authored_by}', 'Co-authored-by: Bob <bob@example.com>'],
  ['%{all_commits}', '* Two\n\nBody\n\n* One'],
  ['A\r\n\r\n%{first_commit}\r\n', 'A\r\n\r\nOne\r\n'],
  // A merge request that is being opened has none of these.
  ['%{title}, %{description}, %{url}, %{reference}.', ', , , .'],
  ['A\n\n%{issues}\n\nB', 'A\n\nB'],
  ['100 %{percent}', '100 %{percent}'],
])('%j becomes %j', (template, description) => {
  expect(descriptionFrom(template, mergeRequest)).toBe(description);
});

test('without a commit that has a body the title is told', () => {
  expect(descriptionFrom('%{first_multiline_commit}', { ...mergeRequest, commits: [] })).toBe('Title');
});

test('is no longer than descriptions are', () => {
  const template = '%{source_branch}'.repeat(50_000);
  const description = descriptionFrom(template, { ...mergeRequest, sourceBranch: 'x'.repeat(1_000) });
  expect(description.length).toBe(1_048_576);
});
