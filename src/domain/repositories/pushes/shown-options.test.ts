import { expect, test } from 'vitest';
import { type ShownOptions, shownOptions } from './shown-options.ts';

test.each<[string, string[], ShownOptions]>([
  ['none', [], {}],
  ['a flag', ['ci.skip'], { ci: { skip: true } }],
  ['a value', ['merge_request.target=main'], { merge_request: { target: 'main' } }],
  ['a value with signs', ['merge_request.title=a=b.c\nd'], { merge_request: { title: 'a=b.c\nd' } }],
  ['the last of two values', ['mr.title=a', 'mr.title=b'], { merge_request: { title: 'b' } }],
  ['the short prefix', ['mr.create', 'mr.draft='], { merge_request: { create: true, draft: true } }],
  [
    'values that repeat',
    ['ci.variable=A=1', 'ci.variable=A=1', 'ci.variable=B=2'],
    { ci: { variable: { 'A=1': 2, 'B=2': 1 } } },
  ],
  ['another namespace', ['deploy.now', 'ci.fast', 'skip', '.=', '__proto__.x=1'], {}],
  ['a name of objects', ['mr.label=constructor'], { merge_request: { label: { constructor: 1 } } }],
  ['too much', [`mr.description=${'x'.repeat(20_000)}`], {}],
])('%s', (_, given, shown) => {
  expect(shownOptions(given)).toEqual(shown);
});
