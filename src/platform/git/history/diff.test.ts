import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createObjectReader } from '../objects.ts';
import { gitText } from '../program/program.ts';
import { createRepository } from '../write.ts';
import { countLines, EMPTY_TREE, readDiff } from './diff.ts';
import { isGenerated, parseDiff } from './parse-diff.ts';

const folder = join(mkdtempSync(join(tmpdir(), 'ashlar-diff-')), 'one.git');
const reader = createObjectReader();
afterAll(() => reader.stop());
const place = reader.open(folder);
type Given = Record<string, { mode?: string; text: string | Buffer }>;

/** A tree of files, made without a worktree. */
async function makeTree(files: Given): Promise<string> {
  const index = { GIT_INDEX_FILE: join(folder, `index-${Math.random()}`) };
  const lines: string[] = [];
  for (const [path, { mode = '100644', text }] of Object.entries(files)) {
    const oid = await gitText(['hash-object', '-w', '--stdin'], { folder, input: text });
    lines.push(`${mode} ${oid.trim()}\t${path}\0`);
  }
  await gitText(['update-index', '-z', '--index-info'], {
    folder,
    environment: index,
    input: lines.join(''),
  });
  return (await gitText(['write-tree'], { folder, environment: index })).trim();
}

beforeAll(() => createRepository(folder, 'main'));
afterAll(() => rmSync(join(folder, '..'), { recursive: true, force: true }));

const strange = 'a "quoted"\n\tname é';
const long = Array.from({ length: 50 }, (_, line) => `line ${line}\n`).join('');
const none = { collapsed: false, too_large: false, generated_file: false };
const kind = { new_file: false, renamed_file: false, deleted_file: false };
const at = (path: string) => ({ old_path: path, new_path: path });

describe('readDiff', () => {
  const cases: { name: string; from: Given; to: Given; files: object[] }[] = [
    {
      name: 'a changed line, and no newline at the end',
      from: { f: { text: 'a\nb' } },
      to: { f: { text: 'a\nc\n' } },
      files: [
        {
          ...none,
          ...kind,
          ...at('f'),
          a_mode: '100644',
          b_mode: '100644',
          diff: '@@ -1,2 +1,2 @@\n a\n-b\n\\ No newline at end of file\n+c\n',
        },
      ],
    },
    {
      name: 'a new file whose name and text look like headers',
      from: {},
      to: { [strange]: { text: 'diff --git a/x b/x\n' }, 'z\ndiff --git a': { text: '' } },
      files: [
        {
          ...none,
          ...kind,
          ...at(strange),
          new_file: true,
          a_mode: '0',
          b_mode: '100644',
          diff: '@@ -0,0 +1 @@\n+diff --git a/x b/x\n',
        },
        {
          ...none,
          ...kind,
          ...at('z\ndiff --git a'),
          new_file: true,
          a_mode: '0',
          b_mode: '100644',
          diff: '',
        },
      ],
    },
    {
      name: 'a file that is gone',
      from: { f: { text: '--- x\n' } },
      to: {},
      files: [
        {
          ...none,
          ...kind,
          ...at('f'),
          deleted_file: true,
          a_mode: '100644',
          b_mode: '0',
          diff: '@@ -1 +0,0 @@\n---- x\n',
        },
      ],
    },
    {
      name: 'renames, as they were and changed',
      from: { one: { text: long }, two: { text: `two\n${long}` } },
      to: { three: { text: long }, 'x/two': { text: `tow\n${long}` } },
      files: [
        {
          ...none,
          ...kind,
          old_path: 'one',
          new_path: 'three',
          renamed_file: true,
          a_mode: '100644',
          b_mode: '100644',
          diff: '',
        },
        {
          ...none,
          ...kind,
          old_path: 'two',
          new_path: 'x/two',
          renamed_file: true,
          a_mode: '100644',
          b_mode: '100644',
          diff: '@@ -1,4 +1,4 @@\n-two\n+tow\n line 0\n line 1\n line 2\n',
        },
      ],
    },
    {
      name: 'a mode',
      from: { run: { text: 'x\n' } },
      to: { run: { text: 'x\n', mode: '100755' } },
      files: [{ ...none, ...kind, ...at('run'), a_mode: '100644', b_mode: '100755', diff: '' }],
    },
    {
      name: 'bytes',
      from: { bin: { text: Buffer.of(0, 1) } },
      to: { bin: { text: Buffer.of(0, 2) } },
      files: [
        {
          ...none,
          ...kind,
          ...at('bin'),
          a_mode: '100644',
          b_mode: '100644',
          diff: 'Binary files a/bin and b/bin differ\n',
        },
      ],
    },
    {
      name: 'a file that became a link, before another change',
      from: { f: { text: 'x' }, g: { text: 'a\n' } },
      to: { f: { text: 'g', mode: '120000' }, g: { text: 'b\n' } },
      files: [
        {
          ...none,
          ...kind,
          ...at('f'),
          deleted_file: true,
          a_mode: '100644',
          b_mode: '0',
          diff: '@@ -1 +0,0 @@\n-x\n\\ No newline at end of file\n',
        },
        {
          ...none,
          ...kind,
          ...at('f'),
          new_file: true,
          a_mode: '0',
          b_mode: '120000',
          diff: '@@ -0,0 +1 @@\n+g\n\\ No newline at end of file\n',
        },
        { ...none, ...kind, ...at('g'), a_mode: '100644', b_mode: '100644', diff: '@@ -1 +1 @@\n-a\n+b\n' },
      ],
    },
    {
      name: 'text that is not UTF-8',
      from: { f: { text: 'a\n' } },
      to: { f: { text: Buffer.from('é\n', 'latin1') } },
      files: [
        { ...none, ...kind, ...at('f'), a_mode: '100644', b_mode: '100644', diff: '@@ -1 +1 @@\n-a\n+é\n' },
      ],
    },
    { name: 'nothing', from: { f: { text: 'a' } }, to: { f: { text: 'a' } }, files: [] },
  ];

  test.each(cases)('$name', async ({ from, to, files }) => {
    const diff = await readDiff(place, { from: await makeTree(from), to: await makeTree(to) });
    expect(diff).toEqual({ files, total: files.length, overflow: false });
  });

  test('unidiff has the names before the hunks', async () => {
    const to = await makeTree({ é: { text: 'x\n' }, bin: { text: Buffer.of(0) } });
    const { files } = await readDiff(place, { from: EMPTY_TREE, to }, { unidiff: true });
    expect(files.map(({ diff }) => diff)).toEqual([
      'Binary files /dev/null and b/bin differ\n',
      '--- /dev/null\n+++ b/é\n@@ -0,0 +1 @@\n+x\n',
    ]);
  });

  test('a window has its own files and the total', async () => {
    const names = ['a', 'b', 'c', 'd'];
    const to = await makeTree(Object.fromEntries(names.map((name) => [name, { text: `${name}\n` }])));
    for (const [offset, expected] of [
      [0, ['a', 'b']],
      [1, ['b', 'c']],
      [3, ['d']],
      [9, []],
    ] as const) {
      const { files, total } = await readDiff(
        place,
        { from: EMPTY_TREE, to },
        { window: { offset, limit: 2 } },
      );
      expect(total).toBe(4);
      expect(files.map(({ new_path, diff }) => `${new_path} ${diff}`)).toEqual(
        expected.map((name) => `${name} @@ -0,0 +1 @@\n+${name}\n`),
      );
    }
  });

  test('a long patch is left out, and what comes after much is', async () => {
    const part = `${'x'.repeat(99)}\n`;
    const files: Given = { '0': { text: part.repeat(2_100) } };
    for (let index = 0; index < 30; index++) files[`1${index}`] = { text: `${index}\n${part.repeat(2_000)}` };
    const diff = await readDiff(place, { from: EMPTY_TREE, to: await makeTree(files) });
    expect(diff.total).toBe(31);
    expect(diff.overflow).toBe(true);
    expect(diff.files[0]).toMatchObject({ too_large: true, collapsed: false, diff: '' });
    expect(diff.files[1]).toMatchObject({ too_large: false, collapsed: false });
    expect(diff.files[30]).toMatchObject({ too_large: false, collapsed: true, diff: '' });
    const shown = diff.files.reduce((sum, file) => sum + file.diff.length, 0);
    expect(shown).toBeGreaterThan(4_000_000);
    expect(shown).toBeLessThan(5 * 1_048_576);
  });

  test('of very many files, the first are listed', async () => {
    const names = Array.from({ length: 3_001 }, (_, index) => `f${index}`);
    const blob = (await gitText(['hash-object', '-w', '--stdin'], { folder, input: 'x' })).trim();
    const input = names
      .sort()
      .map((name) => `100644 blob ${blob}\t${name}\n`)
      .join('');
    const to = (await gitText(['mktree'], { folder, input })).trim();
    const diff = await readDiff(place, { from: EMPTY_TREE, to });
    expect(diff).toMatchObject({ total: 3_000, overflow: true });
    expect(diff.files.at(-1)).toMatchObject({ collapsed: false, new_file: true });
  });

  test('a tree that is not there is a failure', async () => {
    await expect(readDiff(place, { from: EMPTY_TREE, to: '1'.repeat(40) })).rejects.toThrow('diff-tree');
  });
});

test('the pieces of a stream are the same however it is cut', async () => {
  const from = await makeTree({ one: { text: long }, f: { text: 'x' }, b: { text: Buffer.of(0) } });
  const to = await makeTree({ two: { text: `${long}more\n` }, f: { text: 'g', mode: '120000' } });
  const text = await gitText(['diff-tree', '-r', '-M', '-z', '--raw', '-p', '--full-index', from, to], {
    folder,
  });
  const bytes = Buffer.from(text);
  const whole = await parseDiff([bytes]);
  expect(whole.files).toHaveLength(4);
  for (const size of [1, 2, 7, 13]) {
    const chunks = Array.from({ length: Math.ceil(bytes.length / size) }, (_, index) =>
      bytes.subarray(index * size, (index + 1) * size),
    );
    expect(await parseDiff(chunks)).toEqual(whole);
  }
});

test('countLines answers in the order asked', async () => {
  const one = await makeTree({ f: { text: 'a\nb\n' } });
  const two = await makeTree({ f: { text: 'a\nc\nd\n' }, bin: { text: Buffer.of(0) } });
  const counts = await countLines(place, [
    { from: EMPTY_TREE, to: one },
    { from: one, to: one },
    { from: one, to: two },
  ]);
  expect(counts).toEqual([
    { additions: 2, deletions: 0, total: 2 },
    { additions: 0, deletions: 0, total: 0 },
    { additions: 2, deletions: 1, total: 3 },
  ]);
  expect(await countLines(place, [])).toEqual([]);
});

test.each([
  ['package-lock.json', true],
  ['web/yarn.lock', true],
  ['src/app.min.js', true],
  ['node_modules/a/index.js', true],
  ['src/package-lock.json.ts', false],
  ['src/main.ts', false],
])('isGenerated(%s) is %s', (path, expected) => expect(isGenerated(path)).toBe(expected));
