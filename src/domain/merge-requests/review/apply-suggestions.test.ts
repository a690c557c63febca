/** Suggestions that are applied to files, and those that are refused. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  type Appliability,
  applySuggestions,
  type ChosenSuggestion,
  whyNotAppliable,
} from './apply-suggestions.ts';

const suggestion = (more: Partial<ChosenSuggestion> = {}): ChosenSuggestion => ({
  ...{ from_line: 2, to_line: 2, from_content: 'b\n', to_content: 'B\n', path: 'f' },
  ...{ applied: false, state: 'opened', hasSourceBranch: true, isOutdated: false },
  ...{ branch: '1 topic', isAtHead: true },
  ...more,
});
const files = (all: Record<string, string>): Map<string, Buffer> =>
  new Map(Object.entries(all).map(([path, text]) => [path, Buffer.from(text)]));
const applied = (all: Record<string, string>, ...suggestions: ChosenSuggestion[]): Record<string, string> =>
  Object.fromEntries(
    [...applySuggestions(suggestions, files(all))].map(([path, content]) => [path, content.toString()]),
  );

const MERGED = 'This merge request was merged. To apply this suggestion, edit this file directly.';
const CLOSED = 'This merge request is closed. To apply this suggestion, edit this file directly.';
const DELETED = "Can't apply as the source branch was deleted.";
const CHANGED = "Can't apply as this line was changed in a more recent version.";

test.each<[more: Partial<Appliability>, reason: string | undefined]>([
  [{}, undefined],
  [{ applied: true, state: 'merged' }, "Can't apply this suggestion."],
  [{ state: 'merged', hasSourceBranch: false }, MERGED],
  [{ state: 'closed', isOutdated: true }, CLOSED],
  [{ hasSourceBranch: false, isOutdated: true }, DELETED],
  [{ isOutdated: true, to_content: 'b\n' }, CHANGED],
  [{ isOutdated: true, from_line: 1 }, "Can't apply as these lines were changed in a more recent version."],
  [{ to_content: 'b\n', path: 'f.ipynb' }, 'This suggestion already matches its content.'],
  [
    { path: 'f.ipynb' },
    "This file was modified for readability, and can't accept suggestions. Edit it directly.",
  ],
])('%j: %s', (more, reason) => {
  expect(whyNotAppliable(suggestion(more))).toBe(reason);
});

describe('applied', () => {
  const abc = { f: 'a\nb\nc\n' };
  const third = suggestion({ from_line: 3, to_line: 3, from_content: 'c\n', to_content: 'C\nD\n' });

  test.each<[name: string, all: Record<string, string>, suggestions: ChosenSuggestion[], text: string]>([
    ['one', abc, [suggestion()], 'a\nB\nc\n'],
    ['that removes', abc, [suggestion({ to_content: '' })], 'a\nc\n'],
    ['side by side, in any order', abc, [third, suggestion()], 'a\nB\nC\nD\n'],
    [
      'to the whole file',
      abc,
      [suggestion({ from_line: 1, to_line: 3, from_content: 'a\nb\nc\n', to_content: '' })],
      '',
    ],
    [
      'at an end without a line feed',
      { f: 'a\r\nb' },
      [suggestion({ from_content: 'b', to_content: 'B\r\nC' })],
      'a\r\nB\r\nC',
    ],
  ])('%s', (_name, all, suggestions, text) => {
    expect(applied(all, ...suggestions)).toEqual({ f: text });
  });

  test('to several files', () => {
    const all = { f: 'a\nb\nc\n', g: 'x\nb\n', h: 'h\n' };
    expect(applied(all, suggestion(), suggestion({ path: 'g', to_content: '' }))).toEqual({
      f: 'a\nB\nc\n',
      g: 'x\n',
    });
  });

  test.each([
    ['in the encoding of the file', 'è\n', [0xe8, 0x0a, 0xff]],
    ['in UTF-8 where that has no such character', '€\n', [0xe2, 0x82, 0xac, 0x0a, 0xff]],
  ])('%s', (_name, to_content, bytes) => {
    const content = Buffer.from([0xe9, 0x0a, 0xff]);
    const first = suggestion({ from_line: 1, to_line: 1, from_content: 'é\n', to_content });
    expect([...(applySuggestions([first], new Map([['f', content]])).get('f') ?? [])]).toEqual(bytes);
  });

  const other = suggestion({ from_line: 2, to_line: 3, from_content: 'b\nc\n', to_content: '' });
  const OVERLAP = 'Suggestions are not applicable as their lines cannot overlap.';
  test.each<[name: string, suggestions: ChosenSuggestion[], reason: string]>([
    ['a file that is gone', [suggestion({ path: 'g' })], 'A file was not found.'],
    ['a branch that is gone', [suggestion({ path: 'g', hasSourceBranch: false })], DELETED],
    [
      'another branch',
      [suggestion(), suggestion({ branch: '2 topic', applied: true })],
      'Suggestions must all be on the same branch.',
    ],
    ['one that was applied', [third, suggestion({ applied: true })], "Can't apply this suggestion."],
    ['lines that changed', [suggestion({ from_content: 'x\n' })], CHANGED],
    ['lines that are no more', [suggestion({ from_line: 4, to_line: 4, from_content: '' })], CHANGED],
    ['a line before the first', [suggestion({ from_line: 0, to_line: 0, from_content: '' })], CHANGED],
    ['a branch that moved', [suggestion({ isAtHead: false })], 'A file has been changed.'],
    ['the same lines', [suggestion(), suggestion({ to_content: 'x\n' })], OVERLAP],
    ['lines in each other', [other, third], OVERLAP],
    [
      'the first problem of each',
      [suggestion({ isAtHead: false }), other, third],
      'A file has been changed.',
    ],
  ])('not to %s', (_name, suggestions, reason) => {
    expect(() => applied(abc, ...suggestions)).toThrow(reason);
  });

  test('change the lines that they name, and no others', () => {
    const end = fc.constantFrom('\n', '\r\n');
    const line = fc.tuple(fc.stringMatching(/^[a-zé]{0,3}$/), end).map(([text, feed]) => text + feed);
    const kept = { lines: fc.array(line, { maxLength: 4 }), suggested: fc.constant(undefined) };
    const replaced = {
      lines: fc.array(line, { minLength: 1, maxLength: 4 }),
      suggested: fc.array(line, { maxLength: 3 }),
    };
    const parts = fc.array(fc.oneof(fc.record(kept), fc.record(replaced)), { maxLength: 12 });
    fc.assert(
      fc.property(parts, fc.infiniteStream(fc.nat()), (all, order) => {
        let from_line = 1;
        const suggestions = all.flatMap(({ lines, suggested }) => {
          const to_line = from_line + lines.length - 1;
          const [from_content, to_content] = [lines.join(''), suggested?.join('')];
          const range = { from_line, to_line, from_content };
          from_line = to_line + 1;
          return to_content === undefined || to_content === from_content
            ? []
            : [{ rank: order.next().value ?? 0, ...suggestion({ ...range, to_content }) }];
        });
        const before = all.map(({ lines }) => lines.join('')).join('');
        const after = all.map(({ lines, suggested }) => (suggested ?? lines).join('')).join('');
        const shuffled = suggestions.toSorted((left, right) => left.rank - right.rank);
        expect(applied({ f: before }, ...shuffled)).toEqual(suggestions.length > 0 ? { f: after } : {});
      }),
    );
  });
});
