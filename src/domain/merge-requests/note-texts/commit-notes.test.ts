/** Notes about pushes of few and many commits, with and without the target branch. */
import { describe, expect, test } from 'vitest';
import { NO_OBJECT } from '../../../platform/git/names.ts';
import { commitNote, type PushedCommits } from './commit-notes.ts';

const idOf = (number: number): string => number.toString(16).padStart(8, '0').padEnd(40, 'f');
const shortOf = (number: number): string => idOf(number).slice(0, 8);
const commits = (from: number, count: number, message = 'Commit') =>
  Array.from({ length: count }, (_, index) => ({
    oid: idOf(from + index),
    message: `${message} ${from + index}\n\nbody`,
  }));

const BEFORE = 'abcdef01'.padEnd(40, '2');
const push: PushedCommits = {
  added: [],
  existing: [],
  before: BEFORE,
  targetBranch: 'main',
  targetNamespace: undefined,
  path: '/g/p/-/merge_requests/1',
  diffId: 9,
};
const compare = `[Compare with previous version](/g/p/-/merge_requests/1/diffs?diff_id=9&start_sha=${BEFORE})`;
const bodyOf = (given: Partial<PushedCommits>): string => commitNote({ ...push, ...given })?.body ?? '';
/** The list of the note. */
const listOf = (given: Partial<PushedCommits>): string => bodyOf(given).split('\n\n')[1] ?? '';
const listed = (from: number, count: number): string =>
  commits(from, count)
    .map(({ oid }, index) => `<li>${oid.slice(0, 8)} - Commit ${from + index}</li>`)
    .join('');

test('one commit', () => {
  expect(commitNote({ ...push, added: commits(1, 1) })).toEqual({
    action: 'commit',
    body: `added 1 commit\n\n<ul><li>00000001 - Commit 1</li></ul>\n\n${compare}`,
  });
});

test('commits of both branches', () => {
  expect(bodyOf({ added: commits(1, 2), existing: commits(11, 3) })).toBe(
    `added 5 commits\n\n<ul><li>abcdef01...${shortOf(13)} - 3 commits from branch <code>main</code></li>${listed(1, 2)}</ul>\n\n${compare}`,
  );
});

test('no commits are no note', () => {
  expect(commitNote(push)).toBeUndefined();
});

describe('the list', () => {
  test.each<[what: string, Partial<PushedCommits>, list: string]>([
    ['ten', { added: commits(1, 10) }, listed(1, 10)],
    ['eleven', { added: commits(1, 11) }, `<li>00000001 - 1 earlier commit</li>${listed(2, 10)}`],
    [
      'thirteen',
      { added: commits(1, 13) },
      `<li>abcdef01...00000003 - 3 earlier commits</li>${listed(4, 10)}`,
    ],
    [
      'thirteen of a restored branch',
      { added: commits(1, 13), before: NO_OBJECT },
      `<li>00000001..00000003 - 3 earlier commits</li>${listed(4, 10)}`,
    ],
    [
      'one of the target branch',
      { existing: commits(1, 1) },
      '<li>00000001 - 1 commit from branch <code>main</code></li>',
    ],
    [
      'two of the target branch, and a restored branch',
      { existing: commits(1, 2), before: NO_OBJECT },
      '<li>00000001..00000002 - 2 commits from branch <code>main</code></li>',
    ],
    [
      'a fork’s target branch',
      { existing: commits(1, 2), targetNamespace: 'g/s' },
      '<li>abcdef01...00000002 - 2 commits from branch <code>g/s:main</code></li>',
    ],
    [
      'thirteen after one of the target branch',
      { existing: commits(32, 1), added: commits(1, 13) },
      `<li>00000020 - 1 commit from branch <code>main</code></li><li>00000020...00000003 - 3 earlier commits</li>${listed(4, 10)}`,
    ],
  ])('%s', (_what, given, list) => {
    expect(listOf(given)).toBe(`<ul>${list}</ul>`);
  });

  test('has no HTML of commits and branches', () => {
    const added = [{ oid: idOf(1), message: '<pre>"A" & \'B\'</pre></li>\n\n<b>' }];
    expect(listOf({ added, existing: commits(2, 1), targetBranch: '<i>' })).toBe(
      '<ul><li>00000002 - 1 commit from branch <code>&lt;i&gt;</code></li>' +
        '<li>00000001 - &lt;pre&gt;&quot;A&quot; &amp; &#39;B&#39;&lt;/pre&gt;&lt;/li&gt;</li></ul>',
    );
  });

  test('cuts titles, which git does not bound', () => {
    const added = [{ oid: idOf(1), message: 'x'.repeat(1_000_000) }];
    expect(listOf({ added })).toBe(`<ul><li>00000001 - ${'x'.repeat(252)}...</li></ul>`);
  });
});

test('a restored branch is compared with no commit', () => {
  expect(bodyOf({ added: commits(1, 1), before: NO_OBJECT })).toContain('/diffs?diff_id=9)');
});
