/** Parsed output of git: lines, people and files. */
import { describe, expect, test } from 'vitest';
import { archiveEnding } from './files/archive.ts';
import { addSize, languageOf, shares } from './files/languages.ts';
import { parseFile } from './files/listed-files.ts';
import { parseBlame } from './history/blame.ts';
import { createCommitCache } from './history/commit-cache.ts';
import { parseShortlog } from './history/contributors.ts';

const A = 'a'.repeat(40);
const B = 'b'.repeat(40);

test('blame: lines of one commit that follow each other are together, whatever they look like', async () => {
  const output = [
    `${A} 1 1 2\nauthor Ada\nfilename x\n\tone\n`,
    `${A} 2 2\n\t${B} 9 9 9\n`,
    `${B} 3 3 1\nsummary ${A} 1 1\n\t\ttabbed\n`,
    `${A} 4 4 1\n\t\n`,
  ];
  expect(await parseBlame(Buffer.from(output.join('')))).toEqual([
    { commit: A, lines: ['one', `${B} 9 9 9`] },
    { commit: B, lines: ['\ttabbed'] },
    { commit: A, lines: [''] },
  ]);
  expect(await parseBlame(Buffer.alloc(0))).toEqual([]);
});

test('blame: a long answer of git is taken apart by turns', async () => {
  let turns = 0;
  const count = (): void => {
    turns += 1;
    next = setImmediate(count);
  };
  let next = setImmediate(count);
  const lines = `${A} 1 1 1\n\tone\n${B} 1 1 1\n\tone\n`.repeat(30_000);
  const blamed = await parseBlame(Buffer.from(lines));
  clearImmediate(next);
  expect(blamed).toHaveLength(60_000);
  expect(turns).toBeGreaterThan(5);
});

test('shortlog: each address once, under the name with most commits', () => {
  const output =
    '  12\tAda <ada@example.com>\n   3\tAda L. <ada@example.com>\n   1\tA <b> c <x@y>\n     2\t<>\n';
  expect(parseShortlog(Buffer.from(output))).toEqual([
    { name: 'Ada', email: 'ada@example.com', commits: 15 },
    { name: 'A <b> c', email: 'x@y', commits: 1 },
    { name: '', email: '', commits: 2 },
  ]);
});

describe('languages', () => {
  test.each([
    ['src/a.ts', 'TypeScript'],
    ['A.PY', 'Python'],
    ['deep/Dockerfile', 'Dockerfile'],
    ['Makefile', 'Makefile'],
    ['c', undefined],
    ['.c', 'C'],
    ['README.md', undefined],
    ['package.json', undefined],
    ['node_modules/x/index.js', undefined],
    ['a/vendor/x.go', undefined],
    ['vendored.go', 'Go'],
    ['jquery.min.js', undefined],
    ['a.tsx', 'TypeScript'],
    ['a.blade.php', 'Blade'],
    ['a.gleam', 'Gleam'],
    ['CMakeLists.txt', 'CMake'],
    ['a.h', 'C'],
    ['a.inc', undefined],
    ['x.constructor', undefined],
  ])('%s is %s', (path, language) => {
    expect(languageOf(path)).toBe(language);
  });

  test('bytes of files only, the largest share first', () => {
    const listed = [
      `100644 blob ${A}     300\ta.ts`,
      `100755 blob ${A}     100\tb c.py`,
      `120000 blob ${A}     900\tlink.py`,
      `160000 commit ${A}       -\tsub.py`,
      `100644 blob ${A}       0\tempty.rb`,
    ];
    const bytes = new Map<string, number>();
    for (const file of listed.map(parseFile)) if (file) addSize(bytes, file);
    expect(shares(bytes)).toEqual({ TypeScript: 75, Python: 25 });
    expect(shares(new Map())).toEqual({});
  });
});

test.each([
  ['tgz', 'tar.gz'],
  ['gz', 'tar.gz'],
  ['tb2', 'tar.bz2'],
  ['bz2', 'tar.bz2'],
  ['tar', 'tar'],
  ['zip', 'zip'],
] as const)('an archive asked for as %s ends with %s', (format, ending) => {
  expect(archiveEnding(format)).toBe(ending);
});

test('answers are found once, failures again, and the oldest is forgotten', async () => {
  const responses = createCommitCache<number>(2);
  let found = 0;
  const find = async () => ++found;
  expect(await Promise.all([responses('a', find), responses('a', find)])).toEqual([1, 1]);
  await expect(responses('b', () => Promise.reject(new Error('no')))).rejects.toThrow('no');
  expect(await responses('b', find)).toBe(2);
  expect(await responses('c', find)).toBe(3);
  expect([await responses('b', find), await responses('a', find)]).toEqual([2, 4]);
});
