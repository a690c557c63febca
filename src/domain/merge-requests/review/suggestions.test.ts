/** Suggestions in notes: their grammar, and what they make of the lines of a file. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { parseSuggestions, rangeOf, readLines, suggestionsOf } from './suggestions.ts';

const one = (above: number, below: number, ...lines: string[]) => ({ above, below, lines });

describe('the blocks of a text', () => {
  test.each<[markdown: string, suggestions: ReturnType<typeof one>[]]>([
    ['```suggestion\na\n```', [one(0, 0, 'a')]],
    ['```suggestion:-1+2\na\n\n  b\n```', [one(1, 2, 'a', '', '  b')]],
    ['```suggestion:-100+100\n```', [one(100, 100)]],
    ['```suggestion:+1\na\n```', [one(0, 1, 'a')]],
    ['```suggestion:-1\na\n```', [one(1, 0, 'a')]],
    ['```suggestion:\na\n```', [one(0, 0, 'a')]],
    ['``` suggestion:-0+0 for you\r\na\r\nb\r\n```\r\n', [one(0, 0, 'a', 'b')]],
    ['~~~~suggestion\n```\na\n~~~\n~~~~', [one(0, 0, '```', 'a', '~~~')]],
    ['  ```suggestion\n   a\n b\n  ```', [one(0, 0, ' a', 'b')]],
    ['One\n```suggestion\na\n```\nor\n```suggestion:-1+0\nb\n```\n', [one(0, 0, 'a'), one(1, 0, 'b')]],
    ['```suggestion\nwithout an end\n', [one(0, 0, 'without an end')]],
    ['```suggestion\n\n```', [one(0, 0, '')]],
    ['```suggestions\na\n```', []],
    ['```suggestion:-101+0\na\n```', []],
    ['```suggestion:-0+1000\na\n```', []],
    ['```suggestion:-1-1\na\n```', []],
    ['```suggestion:1\na\n```', []],
    ['```js\n```suggestion\na\n```', []],
    ['    ```suggestion\n    a\n    ```', []],
    ['``suggestion\na\n``', []],
    ['```suggestion `a` ```', []],
    ['suggestion', []],
    ['', []],
  ])('%j', (markdown, suggestions) => {
    expect(parseSuggestions(markdown)).toEqual(suggestions);
  });

  test('are read once, and not without end', () => {
    expect(parseSuggestions('```suggestion\na\n```\n'.repeat(50_000))).toHaveLength(100);
    expect(parseSuggestions('```suggestion:-'.repeat(70_000))).toEqual([]);
    expect(parseSuggestions('```suggestion\n~~~suggestion\n'.repeat(40_000))).toHaveLength(1);
    expect(parseSuggestions(`\`\`\`suggestion:${'1'.repeat(1_000_000)}\n`)).toEqual([]);
  });

  test('keep whatever is written in them', () => {
    const line = fc
      .string({ unit: 'grapheme' })
      .filter((text) => !/[\r\n]/.test(text) && !/^ {0,3}~~~/.test(text));
    fc.assert(
      fc.property(fc.array(line), fc.nat(100), fc.nat(100), (lines, above, below) => {
        const markdown = ['~~~', 'code', '~~~', `~~~suggestion:-${above}+${below}`, ...lines, '~~~'].join(
          '\n',
        );
        expect(parseSuggestions(markdown)).toEqual([one(above, below, ...lines)]);
      }),
    );
  });
});

const block = (range: string, ...lines: string[]): string =>
  `\`\`\`suggestion:${range}\n${lines.map((line) => `${line}\n`).join('')}\`\`\``;
const on = (new_line: number | null, position_type: 'text' | 'file' = 'text') => ({
  position_type,
  new_line,
});

const suggestionsIn = (text: string, position: ReturnType<typeof on>, file: ReturnType<typeof readLines>) =>
  suggestionsOf(parseSuggestions(text), position, file);

describe('the contents', () => {
  type Row = [name: string, file: string, line: number, text: string, from: string, to: string];
  test.each<Row>([
    ['of one line', 'a\nb\nc\n', 2, block('-0+0', 'B'), 'b\n', 'B\n'],
    ['of several', 'a\nb\nc\n', 2, block('-1+1', 'A', 'B'), 'a\nb\nc\n', 'A\nB\n'],
    ['that remove lines', 'a\nb\nc\n', 2, block('-0+1'), 'b\nc\n', ''],
    ['of nothing but space', 'a\nb\n', 1, block('-0+0', ' ', ''), 'a\n', ''],
    ['with an empty line', 'a\n', 1, block('-0+0', 'A', ''), 'a\n', 'A\n\n'],
    ['at the end without a line feed', 'a\nb', 2, block('-0+0', 'B', 'C'), 'b', 'B\nC'],
    ['with carriage returns', 'a\r\nb\r\n', 1, block('-0+0', 'A', 'B'), 'a\r\n', 'A\r\nB\r\n'],
    ['with carriage returns, but at the end', 'a\r\nb', 2, block('-0+0', 'B', 'C'), 'b', 'B\r\nC'],
    ['with carriage returns in places', 'a\r\nb\n', 1, block('-0+1', 'A', 'B'), 'a\r\nb\n', 'A\r\nB\n'],
    ['before the first line', 'a\nb\n', 1, block('-5+0', 'A'), 'a\n', 'A\n'],
    ['behind the last line', 'a\nb\n', 2, block('-0+5', 'B'), 'b\n', 'B\n'],
    ['of text that is no UTF-8', 'é\n', 1, block('-0+0', 'è'), 'é\n', 'è\n'],
  ])('%s', (name, file, line, text, from_content, to_content) => {
    const content = Buffer.from(file, name.includes('UTF-8') ? 'latin1' : 'utf8');
    expect(suggestionsIn(text, on(line), readLines(content))).toMatchObject([{ from_content, to_content }]);
  });

  test('stay with the line of the note', () => {
    const [suggestion] = suggestionsIn(block('-5+1', 'A'), on(2), readLines(Buffer.from('a\nb\nc\n')));
    expect(suggestion).toMatchObject({ lines_above: 1, lines_below: 1 });
    if (suggestion) expect(rangeOf({ new_line: 12 }, suggestion)).toEqual({ from_line: 11, to_line: 13 });
  });

  test('of all in one text are bounded together', () => {
    const file = readLines(Buffer.from(`${'x'.repeat(40_000)}\nb\n`));
    const text = [block('-0+0', 'A'), block('-0+1', 'A'), block('-0+0', 'B')].join('\n');
    expect(suggestionsIn(text, on(1), file)).toMatchObject([{ to_content: 'A\n' }]);
    expect(suggestionsIn(text, on(2), file)).toHaveLength(3);
  });

  test.each([
    ['on a file', on(1, 'file'), 'a\n'],
    ['on a removed line', on(null), 'a\n'],
    ['behind the end', on(2), 'a\n'],
    ['in an empty file', on(1), ''],
    ['of very long lines', on(1), `${'x'.repeat(65_536)}\n`],
    ['of bytes that no column takes', on(1), 'a\0b\n'],
  ])('are none %s', (_name, position, file) => {
    expect(suggestionsIn(block('-0+0', 'A'), position, readLines(Buffer.from(file)))).toEqual([]);
  });
});
