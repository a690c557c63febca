/** References in a text, and look-alikes. */
import { expect, test } from 'vitest';
import { referenceAt, scanReferences } from './references.ts';

/** `kind path|name` of each; `:name:` of an emoji. */
const scan = (text: string): string[] =>
  [...scanReferences(text)].map((found) =>
    'emoji' in found
      ? `:${found.emoji}:`
      : `${found.reference.kind} ${found.reference.path ?? ''}|${found.reference.name}`,
  );

const cases: readonly (readonly [text: string, ...found: string[]])[] = [
  ['#1', 'issue |1'],
  ['(#1)', 'issue |1'],
  ['see #1, #22.', 'issue |1', 'issue |22'],
  ['p#1 and g/p#2 and g/s/p#3', 'issue p|1', 'issue g/p|2', 'issue g/s/p|3'],
  ['#1a'],
  ['a.b@c.example'],
  ['##1'],
  ['#'],
  ['#12345678901'],
  ['!3 and p!4, (g/p!5).', 'merge_request |3', 'merge_request p|4', 'merge_request g/p|5'],
  ['!3a !!4 wow!!5 ! 6'],
  ['![a](b) !#7', 'issue |7'],
  ['&4 g/s&5', 'epic |4', 'epic g/s|5'],
  ['AT&T'],
  ['$6 g/p$7', 'snippet |6', 'snippet g/p|7'],
  [
    '%8 %v1.0 %"two words" g/p%next.',
    'milestone |8',
    'milestone |v1.0',
    'milestone |two words',
    'milestone g/p|next',
  ],
  ['~bug, ~"two words" ~12 ~scope::one', 'label |bug', 'label |two words', 'label |12', 'label |scope::one'],
  ['@user, @group/sub. @a.b-', 'user |user', 'user |group/sub', 'user |a.b'],
  ['abcdef1 g/p@0123456789abcdef', 'commit |abcdef1', 'commit g/p|0123456789abcdef'],
  ['abcdef1.txt abcdef1x abcde'],
  [
    'STONE-12, (A_1-2) T3. CU-1a',
    'external_issue |STONE-12',
    'external_issue |A_1-2',
    'external_issue |T3',
    'external_issue |CU-1a',
  ],
  [
    'Fixes bug 12, Work item 3 and task 4x; a bug 5.1, debug 6',
    'external_issue |bug 12',
    'external_issue |Work item 3',
  ],
  ['STONE-1#2 STONE-12x xSTONE-1 STONE-1-2 STONE-1.txt stone-1 TT3', 'issue STONE-1|2'],
  [':tada: :+1:', ':tada:', ':+1:'],
  ['10:30:20'],
  ['path/to/file'],
  ['~"unclosed'],
  ['%"two\nlines"'],
];
test.each(cases)('%j', (text, ...found) => {
  expect(scan(text)).toEqual(found);
});

test('a reference says where it stands', () => {
  const text = 'x @user. y';
  const [found] = [...scanReferences(text)];
  expect(found && text.slice(found.start, found.end)).toBe('@user');
});

test.each([
  ['https://h/g/p/-/issues/3', 'issue g/p|3'],
  ['https://h/g/s/p/-/snippets/4', 'snippet g/s/p|4'],
  ['https://h/groups/g/s/-/epics/5', 'epic g/s|5'],
  ['https://h/g/p/-/commit/abcdef1', 'commit g/p|abcdef1'],
  ['https://h/g/p/-/merge_requests/7', 'merge_request g/p|7'],
  ['https://h/groups/g/-/merge_requests/7', undefined],
  ['https://h/g/p/-/merge_requests/7/diffs', undefined],
  ['https://h/g/p/-/work_items/6', 'issue g/p|6'],
  ['https://h/groups/g/-/work_items/6', undefined],
  ['https://h/groups/g/-/issues/3', undefined],
  ['https://h/g/p/-/issues/3/edit', undefined],
  ['https://h/g/p/-/issues/3#note_1', undefined],
  ['https://other/g/p/-/issues/3', undefined],
  ['https://h.evil/g/p/-/issues/3', undefined],
  ['https://h/g/p', undefined],
])('the address %s', (address, expected) => {
  const reference = referenceAt('https://h', address);
  expect(reference && `${reference.kind} ${reference.path}|${reference.name}`).toBe(expected);
});
