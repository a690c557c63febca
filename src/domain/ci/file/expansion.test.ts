// biome-ignore-all lint/suspicious/noTemplateCurlyInString: references to variables are written so.
/** What references in values come to, and when there is no end to them. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { expandForRunner, expandText, expansionProblem, sourceOf, variableLookup } from './expansion.ts';

const list = (values: Record<string, string>) =>
  Object.entries(values).map(([key, value]) => ({ key, value }));

test.each<[text: string, blank: string, kept: string]>([
  ['$A', '1', '1'],
  ['${A}', '1', '1'],
  ['%A%', '1', '1'],
  ['x$A-${A}y', 'x1-1y', 'x1-1y'],
  ['$AB', '', '$AB'],
  ['${NO}', '', '${NO}'],
  ['%NO%', '', '%NO%'],
  ['$$A', '$$A', '$$A'],
  ['%%A%', '%%A%', '%%A%'],
  ['$$$A', '$$1', '$$1'],
  ['$1', '$1', '$1'],
  ['${A', '${A', '${A'],
  ['100%', '100%', '100%'],
  ['$(A)', '$(A)', '$(A)'],
  ['', '', ''],
])('%j: %j, or %j where names may stay', (text, blank, kept) => {
  const lookup = variableLookup(sourceOf(list({ A: '1' })));
  expect([expandText(text, lookup), expandText(text, lookup, 'keep')]).toEqual([blank, kept]);
});

test('values are expanded to the end, raw ones not, and the last of a name wins', () => {
  const lookup = variableLookup(
    sourceOf([
      ...list({ A: 'old', B: '<$A>', C: '$B$B' }),
      { key: 'R', value: '$A', raw: true },
      { key: 'S', value: '[$R]' },
      { key: 'SELF', value: 'x$SELF' },
      { key: 'A', value: 'new' },
    ]),
  );
  expect(['B', 'C', 'R', 'S', 'SELF', 'NO'].map(lookup)).toEqual([
    '<new>',
    '<new><new>',
    '$A',
    '[$A]',
    'x',
    undefined,
  ]);
});

test('a runner gets unknown names, raw values and files as references, and each after what it refers to', () => {
  const variables = [
    { key: 'C', value: '$B/$NO/$R/$F' },
    { key: 'B', value: '$A' },
    { key: 'A', value: '1' },
    { key: 'R', value: '$A', raw: true },
    { key: 'F', value: 'secret $A', file: true },
  ];
  expect(expandForRunner(variables)).toEqual([
    { key: 'A', value: '1' },
    { key: 'B', value: '1' },
    { key: 'C', value: '1/$NO/$R/$F' },
    { key: 'R', value: '$A', raw: true },
    { key: 'F', value: 'secret 1', file: true },
  ]);
});

test('of variables that refer to each other, which a project may have, one keeps its reference', () =>
  expect(expandForRunner(list({ A: 'a$B', B: 'b$A' }))).toEqual(list({ B: 'ba$B', A: 'aba$B' })));

const long = {
  P3: 'x'.repeat(10_000),
  P2: '$P3'.repeat(3_333),
  ...Object.fromEntries(Array.from('ABCDEFGHIJ', (key) => [key, '$P2'.repeat(15)])),
};
const chainOf = (length: number): Record<string, string> =>
  Object.fromEntries(Array.from({ length }, (_, i) => [`V${i}`, `$V${i + 1}`]));

test.each<[what: string, values: Record<string, string>, isExpanded: boolean]>([
  ['a mebibyte', { A: 'x'.repeat(1024), B: '$A'.repeat(1024) }, true],
  ['one character more', { A: 'x'.repeat(1024), B: '$A'.repeat(1024), C: '$D', D: 'x' }, false],
  ['gigabytes', long, false],
  ['a hundred that refer to each other', chainOf(100), true],
  ['thousands that do', chainOf(10_000), false],
])('a runner gets variables that add %s: %#', (_, values, isExpanded) => {
  const sent = expandForRunner(list(values));
  expect(sent !== undefined).toBe(isExpanded);
});

test('values that would grow without end add no more than a mebibyte to texts', () => {
  const lookup = variableLookup(sourceOf(list(long)));
  expect(expandText('$J$I$J', lookup)).toBe('');
  expect(expandText('$P3'.repeat(3_333), lookup)).toHaveLength(1_040_000);
});

describe('problems', () => {
  test.each<[values: Record<string, string>, problem: string | undefined]>([
    [{ A: '$B', B: '$C', C: 'x' }, undefined],
    [{ A: '$A' }, undefined],
    [{ A: '$B', B: '$A' }, 'circular variable reference detected: ["A", "B"]'],
    [{ X: '$A', A: '$B', B: '${C}', C: '%A%' }, 'circular variable reference detected: ["A", "B", "C"]'],
    [{ A: '$$B', B: '$A' }, undefined],
  ])('%j', (values, problem) => {
    expect(expansionProblem(list(values))).toBe(problem);
  });

  test('of raw variables there are none', () => {
    expect(
      expansionProblem([
        { key: 'A', value: '$B', raw: true },
        { key: 'B', value: '$A' },
      ]),
    ).toBeUndefined();
  });

  test('of a value that doubles with each name', () => {
    const doubling = Object.fromEntries(
      Array.from({ length: 64 }, (_, i) => [`V${i}`, `$V${i + 1}$V${i + 1}`]),
    );
    expect(expansionProblem(list({ ...doubling, V64: 'xx' }))).toMatch(/^the value of V\d+ is too long/);
  });

  test('of a chain of ten thousand, which no call may follow', () => {
    const chain = list(Object.fromEntries(Array.from({ length: 10_000 }, (_, i) => [`V${i}`, `$V${i + 1}`])));
    expect(expansionProblem(chain)).toBe('the references of V0 lead further than 100 variables');
    expect(variableLookup(sourceOf(chain))('V0')).toBe('');
  });
});

test('whatever the values, expansion ends, and without a problem leaves no known name', () => {
  const text = fc.string({ unit: fc.constantFrom('$', '%', '{', '}', 'A', 'B', 'C', ' '), maxLength: 8 });
  fc.assert(
    fc.property(fc.record({ A: text, B: text, C: text }), text, (values, subject) => {
      const variables = list(values);
      const lookup = variableLookup(sourceOf(variables));
      const expanded = expandText(subject, lookup);
      expandForRunner(expansionProblem(variables) === undefined ? variables : []);
      return typeof expanded === 'string' && expandText('plain', lookup) === 'plain';
    }),
  );
});
