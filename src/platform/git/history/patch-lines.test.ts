/** Lines of patches and their numbers, against what git writes of random edits. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { useDiffs } from '../../../../test/support/diffs.ts';
import type { FileDiff } from './parse-diff.ts';
import { lineOf, numberInOther, type PatchLine, parsePatch } from './patch-lines.ts';

const diffOf = useDiffs();

const short = ({ kind, old, new: added, text, hasLineFeed }: PatchLine): string =>
  `${{ added: '+', removed: '-', unchanged: ' ' }[kind]} ${old} ${added} ${JSON.stringify(text)}${hasLineFeed ? '' : ' end'}`;

describe('the lines of a patch', () => {
  test.each<[name: string, patch: string, lines: string[]]>([
    ['nothing', '', []],
    ['two binary files', 'Binary files a/x and b/x differ\n', []],
    ['a new file', '@@ -0,0 +1,2 @@\n+a\n+b\n', ['+ 0 1 "a"', '+ 0 2 "b"']],
    ['a file that is gone', '@@ -1 +0,0 @@\n---- x\n', ['- 1 0 "--- x"']],
    [
      'headers, and lines that look like them',
      '--- a/x\n+++ b/x\n@@ -1,3 +1,3 @@ -1 +1 @@\n-- a/y\n--- @@ -9 +9 @@\n+++ b/y\n+@@ -7 +7 @@\n  \n',
      ['- 1 1 "- a/y"', '- 2 1 "-- @@ -9 +9 @@"', '+ 3 1 "++ b/y"', '+ 3 2 "@@ -7 +7 @@"', '  3 3 " "'],
    ],
    [
      'two hunks',
      '@@ -1,2 +1 @@\n-a\n b\n@@ -10,2 +9,3 @@ function\n c\n+d\n e\n',
      ['- 1 1 "a"', '  2 1 "b"', '  10 9 "c"', '+ 11 10 "d"', '  11 11 "e"'],
    ],
    [
      'ends without a line feed',
      '@@ -1,2 +1,2 @@\n a\r\n-b\n\\ No newline at end of file\n+b\r\n\\ Kein Zeilenumbruch\n',
      ['  1 1 "a\\r"', '- 2 2 "b" end', '+ 3 2 "b\\r" end'],
    ],
    ['a patch that is cut off', '@@ -1,2 +1,2 @@\n a\n-b', ['  1 1 "a"', '- 2 2 "b"']],
    ['a mark before any line', '\\ No newline at end of file\n@@ -1 +1 @@\n', []],
    ['what is no hunk', '@@ -x +y @@\n+a\n@@@ -1 -1 +1 @@@\n+a\n', []],
  ])('of %s', (_name, patch, lines) => {
    expect(parsePatch(patch).map(short)).toEqual(lines);
  });

  test('are read once, however many or long they are', () => {
    const many = '+\n'.repeat(500_000);
    expect(parsePatch(`@@ -0,0 +1,500000 @@\n${many}`)).toHaveLength(500_000);
    expect(parsePatch(`@@ -${'1'.repeat(1_000_000)}\n@@ -0,0 +1 @@\n+${' @@'.repeat(300_000)}`)).toHaveLength(
      1,
    );
    expect(parsePatch('@@ -1'.repeat(200_000))).toEqual([]);
  });
});

describe('numbers', () => {
  const lines = parsePatch('@@ -3,3 +3,4 @@\n c\n-d\n+D\n+e\n f\n@@ -10,2 +11 @@\n-k\n l\n');

  test.each([
    [1, 1],
    [2, 2],
    [3, 3],
    [4, undefined],
    [5, 6],
    [6, 7],
    [9, 10],
    [10, undefined],
    [11, 11],
    [12, 12],
    [99, 99],
  ])('old line %i is new line %s', (old, expected) => {
    expect(numberInOther(lines, 'old', old)).toBe(expected);
    if (expected !== undefined) expect(numberInOther(lines, 'new', expected)).toBe(old);
  });

  test.each([
    ['old', 2, undefined],
    ['old', 3, '  3 3 "c"'],
    ['old', 4, '- 4 4 "d"'],
    ['new', 4, '+ 5 4 "D"'],
    ['new', 5, '+ 5 5 "e"'],
    ['old', 6, undefined],
    ['new', 10, undefined],
    ['old', 10, '- 10 11 "k"'],
    ['new', 11, '  11 11 "l"'],
    ['old', 0, undefined],
  ] as const)('the %s line %i', (version, number, expected) => {
    const line = lineOf(lines, version, number);
    expect(line && short(line)).toBe(expected);
  });

  test('without hunks stay as they are', () => expect(numberInOther([], 'old', 7)).toBe(7));
});

type Line = { text: string; feed: string };

/** Lines with their ends; git sees a line feed alone. */
const linesOf = (file: string): string[] => file.match(/[^\n]*\n|[^\n]+$/g) ?? [];

/** The new version, of the old one and what the patch shows. */
function apply(file: string, lines: readonly PatchLine[]): string {
  const old = linesOf(file);
  const made: string[] = [];
  let next = 1;
  const copyUpTo = (behind: number): void => {
    made.push(...old.slice(next - 1, behind - 1));
    next = Math.max(next, behind);
  };
  for (const { kind, old: number, text, hasLineFeed } of lines) {
    copyUpTo(number);
    if (kind !== 'added') {
      if (old[number - 1] !== `${text}${hasLineFeed ? '\n' : ''}`)
        throw new Error(`not line ${number}: ${text}`);
      next = number + 1;
    }
    if (kind !== 'removed') made.push(`${text}${hasLineFeed ? '\n' : ''}`);
  }
  copyUpTo(Number.MAX_SAFE_INTEGER);
  return made.join('');
}

describe('against git', () => {
  const text = fc.constantFrom(
    'a',
    'b',
    'c',
    'd',
    '',
    ' ',
    '+',
    '-- a',
    '++ b',
    '@@ -1 +1 @@',
    '\\ No',
    'é',
    '\u2028',
    '\r',
  );
  const line: fc.Arbitrary<Line> = fc.record({ text, feed: fc.constantFrom('\n', '\n', '\n', '\r\n') });
  const whole = (lines: readonly Line[], isOpen: boolean): string => {
    const joined = lines.map((each) => each.text + each.feed).join('');
    return isOpen ? joined.replace(/\n$/, '') : joined;
  };
  /** Two versions: the new one with some parts of the old one replaced. */
  const versions = fc
    .record({
      lines: fc.array(line, { maxLength: 40 }),
      edits: fc.array(
        fc.record({ at: fc.nat(40), gone: fc.nat(4), added: fc.array(line, { maxLength: 4 }) }),
        { maxLength: 4 },
      ),
      open: fc.tuple(fc.boolean(), fc.boolean()),
    })
    .map(({ lines, edits, open }) => {
      const changed = [...lines];
      for (const { at, gone, added } of edits) changed.splice(Math.min(at, changed.length), gone, ...added);
      return { from: whole(lines, open[0]), to: whole(changed, open[1]) };
    });

  type Versions = { from: string; to: string };
  const name = (index: number, isRenamed: boolean): string =>
    `${isRenamed ? 'x' : 'f'}${String(index).padStart(3, '0')}`;

  /** The diffs of many files at once, some of them renamed. */
  async function diffAll(cases: readonly Versions[]): Promise<Map<string, FileDiff>> {
    const side = (which: keyof Versions): Record<string, string> =>
      Object.fromEntries(
        cases.map((each, index) => [name(index, which === 'to' && index % 5 === 0), each[which]]),
      );
    const files = await diffOf(side('from'), side('to'));
    return new Map(files.map((file) => [file.new_path, file]));
  }

  test('what a patch shows makes the new version of the old one, and counts its lines right', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(versions, { minLength: 20, maxLength: 40 }), async (cases) => {
        const diffs = await diffAll(cases);
        cases.forEach(({ from, to }, index) => {
          const file = diffs.get(name(index, index % 5 === 0)) ?? diffs.get(name(index, false));
          // A rename may be of any file that was alike; what was added and removed instead starts from nothing.
          const sources = new Map(cases.map((each, at) => [name(at, false), each.from]));
          const source = file ? (file.new_file ? '' : (sources.get(file.old_path) ?? '')) : from;
          const lines = parsePatch(file?.diff ?? '');
          expect(apply(source, lines)).toBe(file?.deleted_file ? '' : to);
          expect(
            lines.filter(({ kind }) => kind !== 'removed').map((each) => linesOf(to)[each.new - 1]),
          ).toEqual(
            lines
              .filter(({ kind }) => kind !== 'removed')
              .map((each) => `${each.text}${each.hasLineFeed ? '\n' : ''}`),
          );
          numbersAgree(linesOf(source), file?.deleted_file ? [] : linesOf(to), lines);
        });
      }),
      { numRuns: 15 },
    );
  });

  /** Each old line is the new line that its number leads to, and every new line comes from there or is added. */
  function numbersAgree(from: readonly string[], to: readonly string[], lines: readonly PatchLine[]): void {
    const removed = lines.filter(({ kind }) => kind === 'removed').map((each) => each.old);
    const added = lines.filter(({ kind }) => kind === 'added').map((each) => each.new);
    from.forEach((text, index) => {
      const number = numberInOther(lines, 'old', index + 1);
      expect(number === undefined).toBe(removed.includes(index + 1));
      if (number === undefined) return;
      expect(to[number - 1]).toBe(text);
      expect(numberInOther(lines, 'new', number)).toBe(index + 1);
    });
    to.forEach((_text, index) => {
      expect(numberInOther(lines, 'new', index + 1) === undefined).toBe(added.includes(index + 1));
    });
  }
});
