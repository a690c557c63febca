/** Issues that texts close, and references that only stand near a keyword. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { closingReferences } from './closing-grammar.ts';

const BASE = 'https://git.example.com/root';
const closed = (...texts: (string | null)[]): string[] =>
  closingReferences(BASE, texts).map(({ path, iid }) => `${path ?? ''}#${iid}`);

const verbs = [
  ...['close', 'closes', 'closed', 'closing'],
  ...['fix', 'fixes', 'fixed', 'fixing'],
  ...['resolve', 'resolves', 'resolved', 'resolving'],
  ...['implement', 'implements', 'implemented', 'implementing'],
];
const capitalised = (verb: string): string => `${verb.charAt(0).toUpperCase()}${verb.slice(1)}`;

describe('keywords', () => {
  test.each(verbs)('%s', (verb) => {
    for (const keyword of [verb, capitalised(verb)])
      expect(closed(`${keyword} #1`, `${keyword}: #2`, `${keyword}   issue  #3`)).toEqual(['#1', '#2', '#3']);
  });

  test.each([
    ...verbs.map((verb) => `${verb.toUpperCase()} #1`),
    ...['closer #1', 'fixs #1', 'resolver #1', 'implementation #1', 'fixme #1', 'closeing #1'],
    ...['unclosed #1', 'prefix #1', '_fix #1', 'éclose #1', 'close# 1', '2fix #1'],
    ...['closes#1', 'closes:#1', 'closes :#1', 'closes : #1', 'closes\t#1', 'closes\n#1', 'closes\u00a0#1'],
    ...['closes - #1', 'closes (#1)', 'closes [#1](x)', 'closes **#1**', 'closes the issue #1'],
  ])('%j is none', (text) => {
    expect(closed(text)).toEqual([]);
  });
});

describe('lists', () => {
  test.each<[text: string, ...issues: string[]]>([
    ['Closes #1', '#1'],
    ['(Closes #1).', '#1'],
    ['auto-closes #1', '#1'],
    ['Closes #1, #2 and group/proj#3', '#1', '#2', 'group/proj#3'],
    ['Closes #1, #2, and #3', '#1', '#2', '#3'],
    ['Closes #1,#2 ,#3 , #4', '#1', '#2', '#3', '#4'],
    ['Closes #1 #2   #3', '#1', '#2', '#3'],
    ['Closes #1  and  #2', '#1', '#2'],
    ['Closes issue #1, issues #2 and issue  #3', '#1', '#2', '#3'],
    ['Fix #20, Fixes #21 and Closes group/otherproject#22.', '#20', '#21', 'group/otherproject#22'],
    ['This is related to #17 and fixes #18, #19', '#18', '#19'],
    ['Closes #4, #6, Related to #5', '#4', '#6'],
    ['Closes #1 or #2', '#1'],
    ['Closes #1; #2', '#1'],
    ['Closes #1 & #2', '#1'],
    ['Closes #1, also #2', '#1'],
    ['Closes #1,\n#2', '#1'],
    ['Closes #1,, #2', '#1'],
    ['Closes #1,and #2', '#1'],
    // The project beside may have the name.
    ['Closes #1 and#2', '#1', 'and#2'],
    ['Closes #1 and and #2', '#1'],
    ['Closes #1/#2', '#1'],
    ['Closes #1\nFixes: #2\n\nResolves #3', '#1', '#2', '#3'],
    ['Closes #1, closes #2, fixes #3', '#1', '#2', '#3'],
    ['Closes g/s/s/p#1, proj#2, .x#3', 'g/s/s/p#1', 'proj#2'],
    ['Closes #1+, #2+s and #3+x, #4', '#1', '#2', '#3'],
    ['Closes ABC-12'],
    ['Closes ABC-12, #1 and X_Y-3 #2', '#1', '#2'],
    ['Closes abc-12, #1'],
    ['Closes #0, #2147483648, #99999999999, #1'],
    ['Closes #0, #2147483648, #2147483647', '#2147483647'],
    ['Closes #01', '#1'],
    ['Closes #1a'],
    ['Closes #1_'],
    ['Closes !1, &2, $3, ~4'],
    ['Closes ~"x #1"'],
  ])('%j', (text, ...issues) => {
    expect(closed(text)).toEqual(issues);
  });

  test('name each issue once, as it was first written', () => {
    expect(closed('Closes #1, g/p#1, #1', 'Fixes G/P#1, #01 and #2', null)).toEqual(['#1', 'g/p#1', '#2']);
  });

  test('have five hundred issues at most', () => {
    const numbers = Array.from({ length: 400 }, (_, index) => `#${index + 1}`);
    const more = numbers.map((number) => `x${number}`);
    expect(closed(`Closes ${numbers.join(' ')}`, `Closes ${more.join(', ')}`)).toHaveLength(500);
  });

  test.each(['Closes AB-1 ', 'Closes #1 ', 'to fix a '])(
    'of ten thousand %j end the reading of a text',
    (part) => {
      const issues = part.includes('#') ? ['#1', '#3'] : ['#3'];
      expect(closed(`${part.repeat(10_001)} Closes #2`, 'Closes #3')).toEqual(issues);
      expect(closed(`${part.repeat(1_000)} Closes #2`)).toContain('#2');
    },
  );
});

describe('addresses', () => {
  const issue = `${BASE}/g/s/p/-/issues/3`;

  test.each<[text: string, ...issues: string[]]>([
    [`Closes ${issue}`, 'g/s/p#3'],
    [`Closes: ${issue}.`, 'g/s/p#3'],
    [`Closes #1, ${issue}, #2`, '#1', 'g/s/p#3', '#2'],
    [`Closes ${issue} and ${BASE}/g/p/-/work_items/4`, 'g/s/p#3', 'g/p#4'],
    [`Closes ${issue}#note_12 #2`, 'g/s/p#3', '#2'],
    [`Closes ${issue}?a=b&c=d#note_12, #2`, 'g/s/p#3', '#2'],
    [`Closes issue ${issue}`, 'g/s/p#3'],
    [`Closes ${issue}, G/S/P#3`, 'g/s/p#3'],
    [`Closes ${issue}/edit, #2`],
    [`Closes ${issue}x`],
    [`Closes ${BASE}/groups/g/-/work_items/3`],
    [`Closes ${BASE}/g/p/-/merge_requests/3`],
    [`Closes ${BASE}/-/issues/3`],
    [`Closes ${BASE}.evil/g/p/-/issues/3`],
    [`Closes https://git.example.com/g/p/-/issues/3`],
    [`Closes https://other.example.com/root/g/p/-/issues/3`],
    [`Closes <${issue}>`],
  ])('%j', (text, ...issues) => {
    expect(closed(text)).toEqual(issues);
  });
});

describe('code and comments', () => {
  test.each<[text: string, ...issues: string[]]>([
    ['`Closes #1`'],
    ['Closes `#1`'],
    ['Closes `x` #1'],
    ['`Closes` #1'],
    ['Closes #1 `and` #2', '#1'],
    ['Closes #1, `#2`, #3', '#1'],
    ['Closes <!-- which? --> #1'],
    ['<!-- Closes #1 -->\nFixes #2', '#2'],
    ['```\nCloses #1\n```\nFixes #2', '#2'],
    ['~~~ruby\nCloses #1\n'],
    ['\u{1f600} Closes #1', '#1'],
  ])('%j', (text, ...issues) => {
    expect(closed(text)).toEqual(issues);
  });

  test('that one text leaves open do not reach into the next', () => {
    expect(closed('```\nCloses #1', 'Closes #2', '<!-- Closes #3', 'Closes #4')).toEqual(['#2', '#4']);
  });
});

test('what is written is what is closed', () => {
  const reference = fc.tuple(
    fc.constantFrom('', 'proj', 'group/proj', 'g/s.x/p-q', `${BASE}/`),
    fc.integer({ min: 1, max: 2_147_483_647 }),
  );
  const between = fc.constantFrom(', ', ' and ', ', and ', ' ', ',', ' , ', '  and  issues ', ', issue ');
  const lists = fc.tuple(
    fc.constantFrom(...verbs, ...verbs.map(capitalised)),
    fc.constantFrom(' ', ': ', '   ', ' issue '),
    fc.array(fc.tuple(reference, between), { minLength: 1, maxLength: 8 }),
  );
  const written = ([path, iid]: [string, number]): string =>
    path.startsWith('https') ? `${path}g/p/-/issues/${iid}` : `${path}#${iid}`;
  const meant = ([path, iid]: [string, number]): string =>
    path.startsWith('https') ? `g/p#${iid}` : `${path}#${iid}`;
  fc.assert(
    fc.property(fc.array(lists), (all) => {
      const text = all
        .map(([verb, gap, items]) => {
          const list = items.map(([item, sign], at) => written(item) + (at < items.length - 1 ? sign : ''));
          return `Text #7. ${verb}${gap}${list.join('')}.`;
        })
        .join('\n');
      expect(closed(text)).toEqual([
        ...new Set(all.flatMap(([, , items]) => items.map(([item]) => meant(item)))),
      ]);
    }),
  );
});

test('any text is read, and what it closes stands in it', () => {
  const part = fc.constantFrom(
    ...[
      'Closes',
      'fix',
      ':',
      ' ',
      ',',
      'and',
      'issue',
      '#',
      '1',
      '22',
      'g/p',
      '`',
      '\n',
      '<!--',
      'AB-1',
      '+s',
      '.',
    ],
    `${BASE}/g/p/-/issues/5`,
  );
  fc.assert(
    fc.property(fc.array(part, { maxLength: 60 }), (parts) => {
      const text = parts.join('');
      for (const { iid } of closingReferences(BASE, [text])) expect(text).toContain(String(iid));
    }),
  );
});

test.each([
  ['keywords', 'Closes '],
  ['keywords in words', 'xCloses'],
  ['spaces', ' '],
  ['issues', 'issues '],
  ['references', '#1 '],
  ['numbers', '1'],
  ['capitals', 'A'],
  ['keys', 'AB-1,'],
  ['paths', 'a/'],
  ['full stops', '.'],
  ['commas', ', '],
  ['backticks', '`'],
  ['comments', '<!--'],
  ['addresses', `${BASE}/g/p/-/issues/1 `],
  ['beginnings of addresses', `${BASE}/`],
  ['letters beyond ASCII', '\u{1d400}'],
])('a million characters of %s are read in no time', (_what, part) => {
  const text = part.repeat(Math.ceil(1_048_576 / part.length));
  expect(closed(`Closes ${text}`, `Closes #7${text}`, `${text} Closes #8`).length).toBeLessThan(4);
});
