/** Issues and other noteables that texts name, and what only looks so. */
import { describe, expect, test } from 'vitest';
import { issueReferences, namedNoteables } from './references-in-texts.ts';

const BASE = 'https://git.example.com/root';
const named = (text: string): string[] =>
  issueReferences(BASE, text).map(({ path, iid }) => `${path ?? ''}#${iid}`);

describe('a text', () => {
  test.each<[text: string, ...issues: string[]]>([
    ['See #1, (#2) and #3.', '#1', '#2', '#3'],
    ['group/project#1 and project#2', 'group/project#1', 'project#2'],
    ['#1 #1 G/p#1 g/p#1', '#1', 'g/p#1'],
    [`${BASE}/g/p/-/issues/1.`, 'g/p#1'],
    [`<${BASE}/g/p/-/work_items/1?a=b#note_2>, [x](${BASE}/g/p/-/issues/3)`, 'g/p#1', 'g/p#3'],
    [`#2 ${BASE}/g/p/-/issues/1`, 'g/p#1', '#2'],
    ['!1 &2 $3 ~4 %5 @6 1 a1', ...[]],
    ['`#1`\n```\n#2\n```\n<!-- #3 -->'],
    ['#0 #2147483648 #99999999999 a#1b'],
    ['https://other.example.com/g/p/-/issues/1 https://git.example.com/root.evil/g/p/-/issues/1'],
    [`${BASE}/g/p/-/merge_requests/1 ${BASE}/groups/g/-/epics/1`],
    [''],
  ])('%j', (text, ...issues) => expect(named(text)).toEqual(issues));
});

test.each([
  ['numbers', '1'],
  ['signs', '#'],
  ['references', '#1 '],
  ['different references', undefined],
  ['addresses', `${BASE}/g/p/-/issues/1 `],
  ['one address', `${BASE}/`],
  ['code', '`'],
])('of a million characters of %s is read in time', (_what, part) => {
  const text =
    part === undefined
      ? Array.from({ length: 100_000 }, (_, at) => `#${at + 1}`).join(' ')
      : part.repeat(1_000_000 / part.length);
  expect(issueReferences(BASE, `#9 ${text}`).length).toBeLessThanOrEqual(500);
});

describe('what may have notes', () => {
  test.each<[text: string, ...noteables: string[]]>([
    ['#1 !2 &3 1234567a', 'issue #1', 'merge_request #2', 'epic #3', 'commit #1234567a'],
    ['p#1 g/p!2 g&3 g/p@1234567', 'issue p#1', 'merge_request g/p#2', 'epic g#3', 'commit g/p#1234567'],
    [`${BASE}/groups/g/-/epics/1 ${BASE}/g/p/-/commit/1234567`, 'epic g#1', 'commit g/p#1234567'],
    [`${BASE}/g/p/-/merge_requests/1 !1 G/p!1`, 'merge_request G/p#1', 'merge_request #1'],
    ['$1 ~2 %3 @456789 !0 &99999999999'],
    ['`!1`\n```\n&2\n```\n<!-- #3 1234567a -->'],
    [''],
  ])('%j', (text, ...noteables) => {
    const found = namedNoteables(BASE, text).map(({ kind, path, name }) => `${kind} ${path ?? ''}#${name}`);
    expect(found).toEqual(noteables);
  });

  test.each([
    ['!1 ', 9_999, 2],
    ['!1 ', 10_000, 1],
    [':stone: ', 10_000, 0],
    [`${BASE}/g/p/-/issues/1 `, 10_000, 2],
  ])('is read in the first ten thousand of each kind: %j, %i times', (part, times, expected) => {
    expect(namedNoteables(BASE, `${part.repeat(times)}!2`)).toHaveLength(expected);
  });

  test('is a hundred in one text at most', () => {
    const text = Array.from({ length: 300 }, (_, at) => `!${at + 1}`).join(' ');
    expect(namedNoteables(BASE, text).map(({ name }) => Number(name))).toEqual(
      Array.from({ length: 100 }, (_, at) => at + 1),
    );
  });
});
