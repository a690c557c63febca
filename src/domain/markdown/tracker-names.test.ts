import { expect, test } from 'vitest';
import { scannerOf } from './tracker-names.ts';

const found = async (pattern: string | undefined, text: string) =>
  [...(await scannerOf(pattern))(text)].map((each) =>
    'reference' in each
      ? `${each.reference.kind} ${each.reference.name} ${text.slice(each.start, each.end)}`
      : each.emoji,
  );

test.each<[pattern: string | undefined, text: string, expected: string[]]>([
  [undefined, 'STONE-1 T1 #2', ['external_issue STONE-1 STONE-1', 'external_issue T1 T1', 'issue 2 #2']],
  ['\\bJ-([a-z]+)', 'STONE-1 J-ab #2 :tada:', ['external_issue ab J-ab', 'issue 2 #2', 'tada']],
  ['\\b([0-9]+)', '#12 13', ['issue 12 #12', 'external_issue 13 13']],
  ['\\bJIRA#([0-9]+)', 'JIRA#12 a/b#3', ['external_issue 12 JIRA#12', 'issue 3 a/b#3']],
  ['\\b([0-9]*)', 'a b', []],
  ['(a)(?:.*b)?', 'a '.repeat(100), Array(20).fill('external_issue a a')],
  ['(', 'STONE-1', ['external_issue STONE-1 STONE-1']],
])('%j in %j', async (pattern, text, expected) => {
  expect(await found(pattern, text)).toEqual(expected);
});
