/** Messages of merge and squash commits: defaults, templates of projects, and what is given with the request. */
import { describe, expect, test } from 'vitest';
import { type MessageSources, mergeMessage, squashMessage } from './message-templates.ts';

const person = (name: string) => ({ name, email: `${name.toLowerCase()}@example.com` });
const commit = (message: string, author: string, parents = ['p']) => ({
  message,
  parents,
  author: { ...person(author), time: 0, zone: '+0000' },
});

const sources: MessageSources = {
  iid: 7,
  fullPath: 'group/project',
  url: 'https://git.example.com/group/project/-/merge_requests/7',
  sourceBranch: 'topic',
  targetBranch: 'main',
  sourceProjectId: 3,
  title: 'Title',
  description: 'One\n\nTwo',
  commits: [
    commit('First\n', 'Ann'),
    commit('Merge main', 'Mia', ['p', 'q']),
    commit('Second\n\nBody\n', 'Bob'),
  ],
  closes: ['#1', 'g/p#2'],
  author: person('Ann'),
  merger: person('Mia'),
  reviewers: [person('Rex'), person('Roy')],
  approvers: [person('Amy')],
};
const bare: MessageSources = {
  ...sources,
  description: null,
  commits: [],
  closes: [],
  reviewers: [],
  approvers: [],
  sourceProjectId: null,
};

const choice = { template: null, given: undefined };

describe('by default', () => {
  const message = (closes: string[]): string => mergeMessage({ ...sources, closes }, choice);
  const around = (line: string): string =>
    `Merge branch 'topic' into 'main'\n\nTitle\n${line}\nSee merge request group/project!7`;

  test.each<[closes: string[], line: string]>([
    [[], ''],
    [['#1'], '\nCloses #1\n'],
    [['#1', 'g/p#2'], '\nCloses #1 and g/p#2\n'],
    [['#1', '#2', '#3'], '\nCloses #1, #2, and #3\n'],
  ])('a merge that closes %j', (closes, line) => {
    expect(message(closes)).toBe(around(line));
  });

  test('a squash', () => {
    expect(squashMessage(sources, choice)).toBe('Title');
  });

  test.each([null, '', '  \r\n'])('also with the template %j', (template) => {
    expect(mergeMessage(bare, { ...choice, template })).toBe(around(''));
    expect(squashMessage(bare, { ...choice, template })).toBe('Title');
  });

  test('where a template leaves nothing', () => {
    const template = '%{issues}\n\n%{description}';
    expect(mergeMessage(bare, { ...choice, template })).toBe(around(''));
    expect(squashMessage(bare, { ...choice, template })).toBe('Title');
  });

  test('variables in titles and branches stay as they are', () => {
    const hostile = { ...bare, title: '%{description} $&', sourceBranch: "%{url}'" };
    expect(mergeMessage(hostile, choice)).toBe(
      "Merge branch '%{url}'' into 'main'\n\n%{description} $&\n\nSee merge request group/project!7",
    );
  });
});

describe('every variable', () => {
  test.each<[variable: string, merge: string, squash: string, bare: string]>([
    ['source_branch', 'topic', 'topic', 'topic'],
    ['target_branch', 'main', 'main', 'main'],
    ['title', 'Title', 'Title', 'Title'],
    ['description', 'One\n\nTwo', 'One\n\nTwo', ''],
    ['issues', 'Closes #1 and g/p#2', 'Closes #1 and g/p#2', ''],
    ['url', sources.url, sources.url, sources.url],
    ['reference', 'group/project!7', 'group/project!7', 'group/project!7'],
    ['local_reference', '!7', '!7', '!7'],
    ['source_project_id', '3', '3', ''],
    ['first_commit', 'First', 'First', ''],
    ['first_multiline_commit', 'Second\n\nBody', 'Second\n\nBody', 'Title'],
    ['first_multiline_commit_description', 'Body', 'Body', ''],
    [
      'reviewed_by',
      'Reviewed-by: Rex <rex@example.com>\nReviewed-by: Roy <roy@example.com>',
      'Reviewed-by: Rex <rex@example.com>\nReviewed-by: Roy <roy@example.com>',
      '',
    ],
    ['approved_by', 'Approved-by: Amy <amy@example.com>', 'Approved-by: Amy <amy@example.com>', ''],
    ['merged_by', 'Mia <mia@example.com>', 'Mia <mia@example.com>', 'Mia <mia@example.com>'],
    ['merge_request_author', 'Ann <ann@example.com>', 'Ann <ann@example.com>', 'Ann <ann@example.com>'],
    [
      'co_authored_by',
      'Co-authored-by: Bob <bob@example.com>\nCo-authored-by: Ann <ann@example.com>',
      'Co-authored-by: Bob <bob@example.com>\nCo-authored-by: Mia <mia@example.com>',
      '',
    ],
    ['all_commits', '* Second\n\nBody\n\n* First', '* Second\n\nBody\n\n* First', ''],
  ])('%s', (variable, merge, squash, withoutAny) => {
    const template = `[%{${variable}}]`;
    expect(mergeMessage(sources, { ...choice, template })).toBe(`[${merge}]`);
    expect(squashMessage(sources, { ...choice, template })).toBe(`[${squash}]`);
    expect(mergeMessage(bare, { ...choice, template })).toBe(`[${withoutAny}]`);
  });
});

describe('a template', () => {
  test('of lines of Windows has line feeds', () => {
    const template = '%{title}\r\n\r\n%{issues}\r\n\r\nSee %{local_reference}';
    expect(mergeMessage(sources, { ...choice, template })).toBe('Title\n\nCloses #1 and g/p#2\n\nSee !7');
    expect(mergeMessage(bare, { ...choice, template })).toBe('Title\n\nSee !7');
  });

  test('loses the lines of what a merge request lacks', () => {
    const template = '%{title}\n\n%{description}\n\n%{co_authored_by}\n%{reviewed_by}\n%{approved_by}';
    expect(mergeMessage(bare, { ...choice, template })).toBe('Title');
    expect(mergeMessage({ ...bare, approvers: sources.approvers }, { ...choice, template })).toBe(
      'Title\n\nApproved-by: Amy <amy@example.com>',
    );
  });

  test('makes no message that git’s readers would refuse', () => {
    const commits = Array.from({ length: 100 }, () => commit('é'.repeat(50_000), 'Ann'));
    const message = mergeMessage(
      { ...sources, commits },
      { ...choice, template: '%{all_commits}'.repeat(35) },
    );
    expect(Buffer.byteLength(message)).toBeLessThan(800_000);
  });
});

describe('a message with the request', () => {
  test.each(['Mine', 'Mine\r\n\r\n%{title}\n', '%{unknown}'])('%j is kept', (given) => {
    expect(mergeMessage(sources, { template: '%{title}', given })).toBe(given);
    expect(squashMessage(sources, { template: '%{title}', given })).toBe(given);
  });

  test.each(['', ' \n', null])('%j is none', (given) => {
    expect(mergeMessage(sources, { template: '%{local_reference}', given })).toBe('!7');
    expect(squashMessage(sources, { template: null, given })).toBe('Title');
  });
});
