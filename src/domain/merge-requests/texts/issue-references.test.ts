/** Issues that texts name, and what only looks so. */
import { describe, expect, test } from 'vitest';
import { issueReferences } from './issue-references.ts';

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
