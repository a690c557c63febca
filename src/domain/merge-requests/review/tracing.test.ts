/** Notes on a version of a merge request, looked for in the next one. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { type Files, useDiffs } from '../../../../test/support/diffs.ts';
import { sortedVersions, textOf } from '../../../../test/support/versions.ts';
import type { NotePosition } from '../../conversation/index.ts';
import { fileOf, placeNote } from './positions.ts';
import { type ComparedFile, createTracer, type DiffRefs, type Traced } from './tracing.ts';

const diffOf = useDiffs();

const refs = (base: string, head: string): DiffRefs => ({
  base_sha: base.repeat(40),
  start_sha: base.repeat(40),
  head_sha: head.repeat(40),
});
const from = refs('a', 'b');
const to = refs('c', 'd');

/** A tracer over the four trees of two versions, and the diffs of both. */
async function compare(a: Files, b: Files, c: Files, d: Files) {
  const [before, bases, heads, diff] = [
    await diffOf(a, b),
    await diffOf(a, c),
    await diffOf(b, d),
    await diffOf(c, d),
  ];
  return { trace: createTracer({ from, to, bases, heads, diff }), before, diff };
}

const text = (more: Partial<NotePosition>): NotePosition => ({
  ...from,
  position_type: 'text',
  old_path: 'f',
  new_path: 'f',
  old_line: null,
  new_line: null,
  line_range: null,
  ...more,
});

/** `f 3/4` for an unchanged line, `f 3/` for a removed one, `f /4` for an added one; the commits of a change before it. */
const short = (traced: Traced): string => {
  const { position } = (traced.isOutdated ? traced.change : traced.placed) ?? {};
  if (!position) return 'outdated';
  const path =
    position.old_path === position.new_path ? position.new_path : `${position.old_path}>${position.new_path}`;
  const lines = 'old_line' in position ? ` ${position.old_line ?? ''}/${position.new_line ?? ''}` : '';
  const commits = `${position.base_sha.charAt(0)}${position.head_sha.charAt(0)}`;
  return `${traced.isOutdated ? `outdated by ${commits} ` : ''}${path}${lines}`;
};

const lines = (...names: string[]): string => names.map((name) => `line ${name}\n`).join('');
const ten = [...'0123456789'];

describe('a line', () => {
  type Texts = [a: string, b: string, c: string, d: string];
  const base = lines(...ten);
  const withX = lines('x', ...ten);
  const without5 = lines(...'012346789');
  test.each<[name: string, texts: Texts, at: Partial<NotePosition>, expected: string]>([
    ['added, and still so', [base, withX, base, withX], { new_line: 1 }, 'f /1'],
    ['added, and moved', [base, withX, base, lines('y', 'x', ...ten)], { new_line: 1 }, 'f /2'],
    ['added, then changed', [base, withX, base, lines('y', ...ten)], { new_line: 1 }, 'outdated by bd f 1/'],
    [
      'added, then also in the target, beside a change',
      [base, withX, withX, lines('x', ...ten, 'y')],
      { new_line: 1 },
      'f 1/1',
    ],
    ['added, then also in the target', [base, withX, withX, withX], { new_line: 1 }, 'outdated by ac f /1'],
    ['removed, and still so', [base, without5, base, without5], { old_line: 6 }, 'f 6/'],
    [
      'removed, and moved by the target',
      [base, without5, withX, lines('x', ...'012346789')],
      { old_line: 6 },
      'f 7/',
    ],
    ['removed, then back', [base, without5, base, base], { old_line: 6 }, 'outdated by bd f /6'],
    [
      'removed by the target as well',
      [base, without5, without5, without5],
      { old_line: 6 },
      'outdated by ac f 6/',
    ],
    [
      'unchanged, and moved by the target',
      [base, withX, lines('y', ...ten), lines('x', 'y', ...ten)],
      { old_line: 3, new_line: 4 },
      'f 4/5',
    ],
    [
      'unchanged, and moved by the source',
      [base, withX, base, lines('x', 'y', ...ten)],
      { old_line: 3, new_line: 4 },
      'f 3/5',
    ],
    [
      'unchanged, then removed by the target alone',
      [base, withX, without5, withX],
      { old_line: 6, new_line: 7 },
      'f /7',
    ],
    [
      'unchanged, then removed',
      [base, withX, base, lines('x', ...'012346789')],
      { old_line: 6, new_line: 7 },
      'outdated by bd f 7/',
    ],
    ['unchanged, then in no diff', [base, withX, base, base], { old_line: 6, new_line: 7 }, 'outdated'],
    ['without a number', [base, withX, base, withX], {}, 'outdated'],
  ])('%s', async (_name, [a, b, c, d], at, expected) => {
    const { trace } = await compare({ f: a }, { f: b }, { f: c }, { f: d });
    expect(short(trace(text(at)))).toBe(expected);
  });

  test('is found under the names that its file has now', async () => {
    const { trace } = await compare(
      { one: base },
      { two: withX },
      { three: base },
      { four: lines('y', 'x', ...ten) },
    );
    const paths = { old_path: 'one', new_path: 'two' };
    expect(short(trace(text({ ...paths, new_line: 1 })))).toBe('three>four /2');
    expect(short(trace(text({ ...paths, old_line: 10, new_line: 11 })))).toBe('three>four 10/12');
  });

  test('of a file that is gone is outdated', async () => {
    const { trace } = await compare({ g: 'g' }, { f: withX, g: 'g' }, { g: 'g' }, { g: 'g' });
    expect(short(trace(text({ new_line: 1 })))).toBe('outdated by bd f 1/');
  });

  test.each<[string, Partial<ComparedFile>]>([
    ['too long', { too_large: true }],
    ['left out', { collapsed: true }],
    ['of bytes', { diff: 'Binary files a/f and b/f differ\n' }],
  ])('is outdated where a change of its file is %s', (_name, change) => {
    const file: ComparedFile = {
      ...{ old_path: 'f', new_path: 'f', new_file: false, deleted_file: false },
      ...{ diff: '', collapsed: false, too_large: false, ...change },
    };
    for (const unknown of ['heads', 'diff'] as const) {
      const trace = createTracer({ from, to, bases: [], heads: [], diff: [], [unknown]: [file] });
      expect(short(trace(text({ new_line: 1 })))).toBe('outdated');
    }
    for (const unknown of ['bases', 'diff'] as const) {
      const trace = createTracer({ from, to, bases: [], heads: [], diff: [], [unknown]: [file] });
      expect(short(trace(text({ old_line: 1 })))).toBe('outdated');
    }
  });

  test('has the commits of the new version, and keeps what it is on', async () => {
    const { trace } = await compare({ f: base }, { f: withX }, { f: base }, { f: withX });
    const traced = trace(text({ new_line: 1 }));
    expect(traced).toEqual({
      isOutdated: false,
      placed: {
        position: { ...text({ new_line: 1 }), ...to },
        lineCode: expect.stringMatching(/^[0-9a-f]{40}_1_1$/),
      },
    });
  });
});

describe('a range', () => {
  const base = lines(...ten);
  const old = lines('x', 'y', ...ten);
  const end = (new_line: number, old_line: number | null = null) => ({
    line_code: null,
    type: null,
    old_line,
    new_line,
  });
  const range = { start: end(1), end: end(2) };

  test.each<[name: string, now: string, expected: [number, number] | string]>([
    ['is as long as before', lines('y', 'x', 'y', ...ten), [2, 3]],
    ['is longer than before', lines('x', 'z', 'y', ...ten), [1, 3]],
    ['has lost its end', lines('x', 'z', ...ten), 'outdated by bd f 2/'],
    ['has lost its start', lines('z', 'y', ...ten), 'outdated by bd f 1/'],
  ])('that %s', async (_name, now, expected) => {
    const { trace } = await compare({ f: base }, { f: old }, { f: base }, { f: now });
    const traced = trace(text({ new_line: 2, line_range: range }));
    if (typeof expected === 'string') expect(short(traced)).toBe(expected);
    else
      expect(traced).toMatchObject({
        isOutdated: false,
        placed: {
          position: {
            new_line: expected[1],
            line_range: { start: { new_line: expected[0], type: 'new' }, end: { new_line: expected[1] } },
          },
        },
      });
  });

  test('whose lines changed places is outdated', async () => {
    const [first, last] = [lines(...'abcdefgh'), lines(...'ABCDEFGH')];
    const trees = [{ f: '' }, { f: `${first}${last}` }, { f: '' }, { f: `${last}${first}` }] as const;
    const { trace } = await compare(...trees);
    const traced = trace(text({ new_line: 16, line_range: { start: end(1), end: end(16) } }));
    expect(traced.isOutdated).toBe(true);
  });
});

describe('a file', () => {
  const file = (more: Partial<NotePosition> = {}): NotePosition => ({
    ...from,
    position_type: 'file',
    old_path: 'f',
    new_path: 'f',
    ...more,
  });
  const g = { g: 'g' };
  test.each<[name: string, trees: [Files, Files, Files, Files], expected: string]>([
    ['that stays as it is', [{ f: 'a' }, { f: 'b' }, { f: 'a' }, { f: 'b' }], 'f'],
    ['that changed again', [{ f: 'a' }, { f: 'b' }, { f: 'a' }, { f: 'c' }], 'outdated by bd f'],
    ['that the target changed alike', [{ f: 'a' }, { f: 'b' }, { f: 'b' }, { f: 'b' }], 'outdated by ac f'],
    ['that is gone, and still so', [{ ...g, f: 'a' }, g, { ...g, f: 'a' }, g], 'f'],
    [
      'that was gone, and is back',
      [{ ...g, f: 'a' }, g, { ...g, f: 'a' }, { ...g, f: 'b' }],
      'outdated by bd f',
    ],
    ['that no diff has', [g, g, g, g], 'outdated'],
  ])('%s', async (_name, trees, expected) => {
    const { trace } = await compare(...trees);
    expect(short(trace(file()))).toBe(expected);
    const point = { width: 1, height: 2, x: 0, y: 1 };
    const image = trace(file({ position_type: 'image', ...point }));
    expect(short(image)).toBe(expected);
    if (!image.isOutdated) expect(image.placed.position).toMatchObject(point);
  });
});

describe('against git', () => {
  type Numbers = { old_line?: number; new_line?: number };
  const numberIn = (version: readonly number[], line: number): number | undefined =>
    version.includes(line) ? version.indexOf(line) + 1 : undefined;
  const numbers = (old: number | undefined, added: number | undefined): Numbers => ({
    ...(old !== undefined && { old_line: old }),
    ...(added !== undefined && { new_line: added }),
  });

  /** Where a line is in the new version by the table of the facts; undefined where a note on it is outdated. */
  function expected([a, b, c, d]: number[][], line: number): Numbers | undefined {
    const [inA, inB, inC, inD] = [a, b, c, d].map((version) => numberIn(version ?? [], line));
    if (inB === undefined) return inA && inC && !inD ? numbers(inC, undefined) : undefined;
    if (inD === undefined) return undefined;
    return inC !== undefined && String(c) === String(d) ? undefined : numbers(inC, inD);
  }

  test('a line that is still there is found, and one that is not is outdated', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(sortedVersions(4), { minLength: 20, maxLength: 30 }), async (cases) => {
        const tree = (version: number): Files =>
          Object.fromEntries(cases.map((versions, index) => [`f${index}`, textOf(versions[version] ?? [])]));
        const { trace, before, diff } = await compare(tree(0), tree(1), tree(2), tree(3));
        cases.forEach((versions, index) => {
          const path = { old_path: `f${index}`, new_path: `f${index}` };
          if (!fileOf(path, before)) return;
          const [a = [], b = []] = versions;
          for (const line of new Set([...a, ...b])) {
            const traced = trace(text({ ...path, ...numbers(numberIn(a, line), numberIn(b, line)) }));
            const now = expected(versions, line);
            expect(traced.isOutdated).toBe(now === undefined);
            if (traced.isOutdated || !now) continue;
            const sent = { ...to, ...path, ...now, position_type: 'text' as const };
            expect(traced.placed).toEqual(placeNote(sent, fileOf(sent, diff), versions[3]?.length ?? 0));
          }
        });
      }),
      { numRuns: 15 },
    );
  });

  test('whatever the files are, a note stays on the same text', async () => {
    const file = fc.array(fc.constantFrom('a', 'b', '', '}', 'long line', 'another line'), { maxLength: 12 });
    const tree = fc.dictionary(fc.constantFrom(...'abcdefgh'), file, { maxKeys: 8 });
    const textAt = (
      files: Record<string, string[]>,
      path: string | null,
      number: number | null | undefined,
    ) => (number ? files[path ?? '']?.[number - 1] : undefined);
    const asText = (files: Record<string, string[]>): Files =>
      Object.fromEntries(
        Object.entries(files).map(([name, all]) => [name, all.map((line) => `${line}\n`).join('')]),
      );
    let kept = 0;
    await fc.assert(
      fc.asyncProperty(tree, tree, tree, tree, async (a, b, c, d) => {
        const { trace, before } = await compare(asText(a), asText(b), asText(c), asText(d));
        for (const { old_path, new_path } of before) {
          for (const number of [1, 2, 3, 4]) {
            for (const lines of [{ new_line: number }, { old_line: number }]) {
              const was = textAt(b, new_path, lines.new_line) ?? textAt(a, old_path, lines.old_line);
              if (was === undefined) continue;
              const traced = trace(text({ old_path, new_path, ...lines }));
              if (traced.isOutdated) continue;
              kept += 1;
              const { position } = traced.placed;
              const isNow =
                textAt(d, position.new_path, position.new_line) ??
                textAt(c, position.old_path, position.old_line);
              expect(isNow).toBe(was);
            }
          }
        }
      }),
      { numRuns: 20 },
    );
    expect(kept).toBeGreaterThan(0);
  });
});
