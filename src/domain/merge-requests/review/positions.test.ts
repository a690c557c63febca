/** Notes on lines of a diff: which are taken, what is kept of them, and how the others are refused. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { useDiffs } from '../../../../test/support/diffs.ts';
import { sortedVersions, textOf } from '../../../../test/support/versions.ts';
import { parsePatch } from '../../../platform/git/history/patch-lines.ts';
import type { PositionInput } from '../../conversation/index.ts';
import { type ChangedFile, fileOf, lineCode, placeNote, requireKnownCommits } from './positions.ts';

const shas = { base_sha: 'a'.repeat(40), start_sha: 'b'.repeat(40), head_sha: 'c'.repeat(40) };
const changed: ChangedFile = {
  old_path: 'src/old.ts',
  new_path: 'src/new.ts',
  new_file: false,
  deleted_file: false,
  diff: '@@ -3,3 +3,4 @@\n c\n-d\n+D\n+e\n f\n@@ -10,2 +11 @@\n-k\n l\n',
};
const added: ChangedFile = {
  ...changed,
  old_path: 'added',
  new_path: 'added',
  new_file: true,
  diff: '@@ -0,0 +1,2 @@\n+a\n+b\n',
};
const renamed: ChangedFile = { ...changed, old_path: 'from', new_path: 'to', diff: '' };
/** `printf %s src/new.ts | sha1sum`. */
const CODE = 'df2b62deb31702acddc8aa626ad5715d14f6ec2b';
const LINES = 20;

const at = (position: Partial<PositionInput>): PositionInput => ({
  ...shas,
  position_type: 'text',
  ...position,
});
const place = (position: Partial<PositionInput>, file: ChangedFile | undefined = changed) =>
  placeNote(at({ new_path: file?.new_path, ...position }), file, LINES);

const NOT_IN_DIFF = '400 Bad request - Note {:line_code=>["can\'t be blank", "must be a valid line code"]}';
const INCOMPLETE = '400 Bad request - Note {:position=>["is incomplete"]}';

describe('a line', () => {
  test.each<[name: string, sent: Partial<PositionInput>, code: string, kept: [number | null, number | null]]>(
    [
      ['added', { new_line: 4 }, '5_4', [null, 4]],
      ['added after another', { new_line: 5 }, '5_5', [null, 5]],
      ['removed', { old_line: 4 }, '4_4', [4, null]],
      ['unchanged', { old_line: 5, new_line: 6 }, '5_6', [5, 6]],
      ['unchanged, by its new number', { new_line: 6 }, '5_6', [5, 6]],
      ['unchanged, by its old number', { old_line: 5 }, '5_6', [5, 6]],
      ['before the hunks', { old_line: 1, new_line: 1 }, '1_1', [1, 1]],
      ['between the hunks', { old_line: 9, new_line: 10 }, '9_10', [9, 10]],
      ['behind the hunks', { old_line: 20, new_line: 20 }, '20_20', [20, 20]],
    ],
  )('%s is found', (_name, sent, code, [old_line, new_line]) => {
    const { position, lineCode: found } = place(sent);
    expect(found).toBe(`${CODE}_${code}`);
    expect(position).toEqual({
      ...shas,
      position_type: 'text',
      old_path: 'src/old.ts',
      new_path: 'src/new.ts',
      old_line,
      new_line,
      line_range: null,
    });
  });

  test('of a new file is counted from before its first', () => {
    expect(place({ new_line: 1 }, added).lineCode).toMatch(/_0_1$/);
  });

  test.each<[name: string, sent: Partial<PositionInput>, file?: ChangedFile | undefined]>([
    ['with numbers that do not belong together', { old_line: 5, new_line: 5 }],
    ['that was added, with an old number', { old_line: 5, new_line: 4 }],
    ['that was removed, with a new number', { old_line: 4, new_line: 4 }],
    ['between the hunks, by one number', { new_line: 9 }],
    ['between the hunks, by the other number', { old_line: 9 }],
    ['between the hunks, with wrong numbers', { old_line: 9, new_line: 9 }],
    ['behind the end', { old_line: 21, new_line: 21 }],
    ['far behind the end', { new_line: 2_147_483_647 }],
    ['of a new file that has no such line', { old_line: 3, new_line: 3 }, added],
    ['of a file of which nothing is shown', { old_line: 3, new_line: 3 }, renamed],
    ['of bytes', { new_line: 1 }, { ...changed, diff: 'Binary files a/x and b/x differ\n' }],
  ])('%s is refused', (_name, sent, file = changed) => {
    expect(() => place(sent, file)).toThrow(NOT_IN_DIFF);
  });

  test.each<[name: string, sent: Partial<PositionInput>]>([
    ['text without a line', {}],
    ['text without a path', { new_path: null, new_line: 4 }],
    ['an image without its size', { position_type: 'image', x: 1, y: 1 }],
  ])('%s is incomplete', (_name, sent) => {
    expect(() => place(sent)).toThrow(INCOMPLETE);
  });

  test('of a file that did not change is refused', () => {
    expect(() => placeNote(at({ new_path: 'else', new_line: 1 }), undefined, LINES)).toThrow(NOT_IN_DIFF);
  });
});

test.each<[sent: Partial<PositionInput>, more: Record<string, unknown>]>([
  [{ position_type: 'file' }, {}],
  [
    { position_type: 'image', width: 3, height: 4, x: 0, y: 1 },
    { width: 3, height: 4, x: 0, y: 1 },
  ],
])('%j is kept without lines', (sent, more) => {
  const { position, lineCode: code } = place(sent);
  const paths = { old_path: 'src/old.ts', new_path: 'src/new.ts' };
  expect(position).toEqual({ ...shas, ...paths, position_type: sent.position_type, ...more });
  expect(code).toBeNull();
});

describe('a range', () => {
  type Range = NonNullable<PositionInput['line_range']>;
  const code = (counters: string) => `${CODE}_${counters}`;
  const first = { line_code: code('4_4'), type: 'old', old_line: 4, new_line: null };
  const last = { line_code: code('5_5'), type: 'new', old_line: null, new_line: 5 };

  test.each<[name: string, range: Range]>([
    ['of numbers', { start: { old_line: 4 }, end: { new_line: 5 } }],
    ['of codes', { start: { line_code: code('4_4') }, end: { line_code: code('5_5') } }],
    ['of all that clients know', { start: first, end: last }],
    ['with a wrong type', { start: { ...first, type: 'new' }, end: { ...last, type: 'old' } }],
    ['with a wrong code beside the number', { start: { ...first, line_code: 'x' }, end: last }],
    ['that ends at the line of the note', { start: first, end: {} }],
  ])('%s is kept', (_name, line_range) => {
    expect(place({ new_line: 5, line_range }).position.line_range).toEqual({ start: first, end: last });
  });

  test('takes unchanged lines, shown and between the hunks', () => {
    const line_range = { start: { line_code: code('2_2') }, end: { new_line: 6 } };
    expect(place({ old_line: 5, new_line: 6, line_range }).position.line_range).toEqual({
      start: { line_code: code('2_2'), type: null, old_line: 2, new_line: 2 },
      end: { line_code: code('5_6'), type: null, old_line: 5, new_line: 6 },
    });
  });

  test('may be one line', () => {
    const { line_range } = place({ new_line: 5, line_range: { start: last, end: last } }).position;
    expect(line_range).toEqual({ start: last, end: last });
  });

  test.each<[name: string, range: Range]>([
    ['without a start', { start: {}, end: last }],
    ['with nothing of a start', { end: last }],
    ['that ends elsewhere', { start: first, end: { new_line: 4 } }],
    ['that ends before it starts', { start: { new_line: 6 }, end: last }],
    ['of a code of another file', { start: { line_code: `${'0'.repeat(40)}_4_4` }, end: last }],
    ['of a code of no line', { start: { line_code: code('4_5') }, end: last }],
    ['of a line before the first', { start: { line_code: code('0_0') }, end: last }],
    ['of what is no code', { start: { line_code: `${code('4_4')} ` }, end: last }],
  ])('%s is refused', (_name, line_range) => {
    expect(() => place({ new_line: 5, line_range })).toThrow(NOT_IN_DIFF);
  });
});

describe('the file', () => {
  const gone = { ...changed, old_path: 'f', new_path: 'f', deleted_file: true };
  const came = { ...changed, old_path: 'f', new_path: 'f', new_file: true };
  const files = [renamed, gone, came, changed];

  test.each<[name: string, sent: Parameters<typeof fileOf>[0], file: ChangedFile | undefined]>([
    ['by its new path', { new_path: 'src/new.ts' }, changed],
    ['by its old path', { old_path: 'src/old.ts' }, changed],
    ['by both', { old_path: 'from', new_path: 'to' }, renamed],
    ['not by paths of two files', { old_path: 'from', new_path: 'src/new.ts' }, undefined],
    ['not by its old path as the new one', { new_path: 'from' }, undefined],
    ['that became another: the one before', { old_path: 'f', new_path: 'f' }, gone],
    ['that became another: the one behind', { new_path: 'f', new_line: 1 }, came],
  ])('%s', (_name, sent, file) => {
    expect(fileOf(sent, files)).toBe(file);
  });
});

test('commits that no version shows are refused', () => {
  const known = new Set(Object.values(shas));
  expect(() => requireKnownCommits(at({}), known)).not.toThrow();
  for (const name of Object.keys(shas))
    expect(() => requireKnownCommits(at({ [name]: 'd'.repeat(40) }), known)).toThrow(NOT_IN_DIFF);
});

describe('against git', () => {
  const diffOf = useDiffs();

  test('just the lines of the two versions are taken, each under a code of its own', async () => {
    await fc.assert(
      fc.asyncProperty(sortedVersions(2), async ([from = [], to = []]) => {
        const [file] = await diffOf({ f: textOf(from) }, { f: textOf(to) });
        if (!file) return;
        const shown = parsePatch(file.diff);
        const codes = new Set<string>();
        const taken = (lines: Partial<PositionInput>): string | undefined => {
          try {
            return placeNote(at({ new_path: 'f', ...lines }), file, to.length).lineCode ?? undefined;
          } catch {
            return undefined;
          }
        };
        for (let old = 1; old <= from.length + 1; old++) {
          for (let newLine = 1; newLine <= to.length + 1; newLine++) {
            const isOne = from[old - 1] !== undefined && from[old - 1] === to[newLine - 1];
            const code = taken({ old_line: old, new_line: newLine });
            expect(code).toBe(isOne ? lineCode('f', { kind: 'unchanged', old, new: newLine }) : undefined);
            if (code) codes.add(code);
          }
        }
        const changes = shown.filter(({ kind }) => kind !== 'unchanged');
        for (const line of changes) {
          const code = taken(line.kind === 'added' ? { new_line: line.new } : { old_line: line.old });
          expect(code).toBe(lineCode('f', line));
          if (code) codes.add(code);
        }
        const common = from.filter((line) => to.includes(line)).length;
        expect(codes.size).toBe(from.length + to.length - common);
      }),
      { numRuns: 25 },
    );
  });
});
