/** Templates, their variables, and lines that go with an empty one. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { fillIn } from './placeholders.ts';

const MAX_LENGTH = 10_000;
const values = {
  title: () => 'Title',
  description: () => 'One\n\nTwo',
  issues: () => '',
  reviewed_by: () => ' \r\n ',
  approved_by: () => '',
  target_branch: () => '%{title} $& $1',
};
const filled = (template: string): string => fillIn(template, values, MAX_LENGTH);

describe('values', () => {
  test.each([
    ['', ''],
    ['%{title}', 'Title'],
    ['%{title} %{title}', 'Title Title'],
    ['a%{title}b%{description}c', 'aTitlebOne\n\nTwoc'],
    // A value is not looked through again, and nothing in it is a pattern.
    ['%{target_branch}!', '%{title} $& $1!'],
    ['%%{title}}', '%Title}'],
    ['%{%{title}}', '%{Title}'],
    // What is no variable stays.
    [
      '%{unknown} %{Title} %{ title } %{title %title} {title}',
      '%{unknown} %{Title} %{ title } %{title %title} {title}',
    ],
    ['%{constructor} %{__proto__} %{to_string}', '%{constructor} %{__proto__} %{to_string}'],
    // Known, and without a value here.
    ['[%{url}]', '[%{url}]'],
    ['%{issues} %{title}', ' Title'],
  ])('%j becomes %j', (template, expected) => {
    expect(filled(template)).toBe(expected);
  });
});

describe('lines of an empty variable', () => {
  test.each([
    ['A\n\n%{issues}\n\nB', 'A\n\nB'],
    ['A\n\n%{issues}', 'A'],
    ['A\n\n%{issues}\n', 'A\n'],
    ['A\n\n%{issues}\nB', 'A\n\nB'],
    ['A\n%{issues}\n\nB', 'A\n\nB'],
    ['A\n%{issues}\nB', 'A\nB'],
    ['A\n%{issues}', 'A'],
    ['%{issues}', ''],
    ['%{issues}\nA', 'A'],
    ['%{issues}\n\nA', '\nA'],
    ['A\n\n%{reviewed_by}\n\nB', 'A\n\nB'],
    ['A\n\n%{url}\n\nB', 'A\n\n%{url}\n\nB'],
    ['A\n\n%{issues}\n\n%{approved_by}\n\nB', 'A\n\nB'],
    ['A\n\n%{issues}\n%{approved_by}\n%{reviewed_by}\n\nB', 'A\n\nB'],
    ['A\n\n%{issues}\n%{approved_by}', 'A'],
    ['A\n\n%{issues}\n%{title}\n\nB', 'A\n\nTitle\n\nB'],
    ['A\n\n\n%{issues}\n\n\nB', 'A\n\n\n\nB'],
    ['A\r\n\r\n%{issues}\r\n\r\nB', 'A\r\n\r\nB'],
    // Not alone on its line.
    ['A\n\n%{issues} \n\nB', 'A\n\n \n\nB'],
    ['A\n\n%{issues}%{issues}\n\nB', 'A\n\n\n\nB'],
    // Not empty, or no variable.
    ['A\n\n%{title}\n\nB', 'A\n\nTitle\n\nB'],
    ['A\n\n%{unknown}\n\nB', 'A\n\n%{unknown}\n\nB'],
  ])('%j becomes %j', (template, expected) => {
    expect(filled(template)).toBe(expected);
  });
});

test('a value is made once, and only if the template has it', () => {
  const made: string[] = [];
  const counted = (name: string) => () => {
    made.push(name);
    return '';
  };
  fillIn(
    '%{url}\n%{url} %{title}\n\n%{title}',
    { url: counted('url'), title: counted('title'), issues: counted('issues') },
    10,
  );
  expect(made).toEqual(['url', 'title']);
});

test('a template without variables stays as it is', () => {
  fc.assert(
    fc.property(fc.string({ unit: fc.constantFrom(...'%{}a_\n\r ') }), (template) => {
      expect(filled(template)).toBe(template);
    }),
  );
});

test('the length is bounded, also while it is made', () => {
  const long = 'x'.repeat(1_048_576);
  const text = fillIn('%{description}'.repeat(70_000), { description: () => long }, MAX_LENGTH);
  expect(text).toBe('x'.repeat(MAX_LENGTH));
  expect(fillIn('%{title}', { title: () => '\u{1f600}\u{1f600}' }, 3)).toBe('\u{1f600}\ufffd');
});

test.each([
  ['line breaks', '\n'],
  ['empty variables', '%{issues}\n'],
  ['empty variables between empty lines', '\n%{issues}\n'],
  ['beginnings', '%{'],
  ['letters', '%{a'],
  ['unknown variables', '%{a}'],
])('a million characters of %s are read in no time', (_what, part) => {
  const template = part.repeat(1_048_576 / part.length);
  expect(fillIn(template, values, 2_000_000).length).toBeLessThanOrEqual(template.length);
});
