/** Lines as rows: what is taken, what fails, and who is whom. */
import { describe, expect, test } from 'vitest';
import { projectRelations } from './project-relations.ts';
import { attributionOf, namedIn, type References, readLine, unknownNames } from './read-line.ts';
import type { JsonObject } from './relation.ts';

const references: References = {
  owner: 5,
  importer: 1,
  user: (id) => (id === 20 ? 2 : undefined),
  nameOf: (id) => (id === 30 ? 'Nobody' : undefined),
  label: (title) => (title === 'bug' ? 11 : undefined),
  milestone: (title) => (title === 'v1' ? 12 : undefined),
  numbered: (_, iid) => (iid === 3 ? 13 : undefined),
  rewrite: (text) => text.replaceAll('old', 'new'),
};

const relationOf = (name: string) => {
  const found = projectRelations.find((each) => each.name === name);
  if (!found) throw new Error(`no relation ${name}`);
  return found;
};
const read = (name: string, line: JsonObject) => readLine(relationOf(name), line, references);
const time = '2026-01-01T00:00:00.000Z';
const issue = (more: JsonObject = {}): JsonObject => ({
  iid: 1,
  title: 'One',
  author_id: 20,
  created_at: time,
  ...more,
});

describe('an issue', () => {
  test.each<[what: string, more: JsonObject, row: JsonObject]>([
    ['by somebody who is known', {}, { author_id: 2, description: null }],
    [
      'by somebody unknown',
      { author_id: 30 },
      { author_id: 1, description: expect.stringContaining('*By Nobody on') },
    ],
    ['by somebody without a name', { author_id: 40 }, { author_id: 1, description: null }],
    [
      'by somebody who has a name there',
      { author_id: 40, author: { name: 'A' } },
      { description: expect.stringContaining('*By A on') },
    ],
    ['without an author', { author_id: null }, { author_id: 1 }],
    ['with the address of a file', { description: 'old' }, { description: 'new' }],
    ['of the public kind', { work_item_type: { base_type: 'incident' } }, { issue_type: 'incident' }],
    ['of a kind that is none', { issue_type: 'key_result' }, { issue_type: 'issue' }],
    [
      'that is open, and was closed',
      { closed_at: time, closed_by_id: 20 },
      { closed_at: null, closed_by_id: null },
    ],
    ['that is closed', { state: 'closed', closed_at: time }, { state: 'closed', closed_at: time }],
    ['with a milestone', { milestone: { title: 'v1' } }, { milestone_id: 12 }],
    [
      'with awards of the known',
      {
        award_emoji: [
          { name: 'thumbsup', user_id: 20 },
          { name: 'thumbsup', user_id: 30 },
        ],
      },
      { upvotes: 1, downvotes: 0 },
    ],
    [
      'with notes',
      {
        notes: [
          { note: 'a', author_id: 20 },
          { note: 'b', author_id: 20, system: true },
          { note: 'c', author_id: 20, confidential: true },
        ],
      },
      { user_notes_count: 1 },
    ],
    ['with a time of the public form', { created_at: '2026-01-01 00:00:00 UTC' }, { created_at: time }],
  ])('%s', (_what, more, row) => {
    const { record, problems } = read('issues', issue(more));
    expect(problems).toEqual([]);
    expect(record?.row).toMatchObject(row);
  });

  test.each<[what: string, more: JsonObject, text: RegExp]>([
    ['without a number', { iid: undefined }, /iid is missing/],
    ['with a number that is none', { iid: 1.5 }, /iid is no whole number/],
    ['with a title of spaces', { title: '  ' }, /title is invalid/],
    ['with a time that is none', { created_at: '2026-13-01T00:00:00Z' }, /created_at is no time/],
    ['of before the first', { created_at: '1969-01-01T00:00:00Z' }, /created_at is no time/],
    ['of the future', { created_at: '3000-01-01T00:00:00Z' }, /in the future/],
  ])('%s is refused', (_what, more, text) => {
    const { record, problems } = read('issues', issue(more));
    expect(record).toBeUndefined();
    expect(problems).toEqual([{ relation: 'issues', text: expect.stringMatching(text) }]);
  });

  test.each(['a\nb', 'a b', '-x', 'a:b', ' ', '\u0000'])('of a branch %j is refused', (source_branch) => {
    const line = { iid: 1, title: 'M', source_branch, target_branch: 'b', author_id: 20 };
    expect(read('merge_requests', line)).toEqual({
      record: undefined,
      problems: [{ relation: 'merge_requests', text: expect.stringMatching(/^source_branch/) }],
    });
  });

  test('whose label or note is wrong loses that alone', () => {
    const { record, problems } = read(
      'issues',
      issue({ label_links: [{ label: { title: 'none' } }, { label: { title: 'bug' } }], notes: [{}] }),
    );
    expect(problems.map(({ relation }) => relation)).toEqual(['notes', 'label_links']);
    const links = record?.children.find(({ relation }) => relation.name === 'label_links');
    expect(links?.records.map(({ row }) => row)).toEqual([{ label_id: 11 }]);
  });
});

test.each<[what: string, line: JsonObject, row: JsonObject]>([
  ['of a branch of the project', { source_project_id: 9, target_project_id: 9 }, { source_project_id: 5 }],
  ['of a fork', { source_project_id: 8, target_project_id: 9 }, { source_project_id: null }],
  ['that nobody places', {}, { source_project_id: null }],
  ['that is a draft', { title: 'Draft: x' }, { draft: true }],
  ['that was being merged', { state: 'locked' }, { state: 'opened', merge_status: 'unchecked' }],
  ['that was checked', { merge_status: 'can_be_merged' }, { merge_status: 'unchecked' }],
  ['that is closed', { state: 'closed', merge_status: 'can_be_merged' }, { merge_status: 'can_be_merged' }],
  [
    'with the public form of its commits',
    { merge_request_diff: { merge_request_diff_commits: [{ sha: 'a'.repeat(40) }] } },
    { commits_count: 1 },
  ],
])('a merge request %s', (_what, line, row) => {
  const given = { iid: 1, title: 'M', source_branch: 'a', target_branch: 'b', author_id: 20, ...line };
  expect(read('merge_requests', given).record?.row).toMatchObject(row);
});

test.each<[ref: string, isTaken: boolean]>([
  ['main', true],
  ['feature/a', true],
  ['refs/heads/main', true],
  ['refs/tags/v1', true],
  ['refs/merge-requests/1/head', true],
  ['refs/heads/-x', false],
  ['refs/ashlar/x', false],
  ['--upload-pack=x', false],
  ['a..b', false],
  ['a\nb', false],
  ['HEAD', false],
  ['', false],
])('a schedule of the ref %j is taken: %j', (ref, isTaken) => {
  const { record } = read('pipeline_schedules', { description: 'x', ref, cron: '0 1 * * *' });
  expect(record !== undefined).toBe(isTaken);
});

test('people who are unknown are no members, and Owners are Maintainers', () => {
  const member = (id: number, level: number) =>
    read('project_members', { access_level: level, user: { id } });
  expect(member(30, 30)).toEqual({ record: undefined, problems: [] });
  expect(member(20, 50).record?.row).toMatchObject({ user_id: 2, access_level: 40 });
});

test('the labels of a line are those of what is inside it, too', () => {
  const line = issue({
    label_links: [{ label: { title: 'a' } }],
    resource_label_events: [{ label: { title: 'b' } }],
  });
  expect(namedIn(relationOf('issues'), line, 'label')).toEqual([{ title: 'a' }, { title: 'b' }]);
});

test('what nobody reads is named', () => {
  expect(unknownNames(relationOf('issues'), issue({ lock_version: 1 }))).toEqual(['lock_version']);
});

test.each([
  ['A', '*By A on now (imported)*'],
  ['@all #1', '*By \\@all \\#1 on now (imported)*'],
  ['*a*\n/close', '*By \\*a\\* \\/close on now (imported)*'],
])('the author %j is named without effect', (name, text) => {
  expect(attributionOf(name, 'now')).toBe(text);
});
