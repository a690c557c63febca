/** Pages of a difference: put together they are the whole, whatever changed, and wherever a page begins. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { makeTrees, type TreeFile, useRepository } from '../../../../test/support/git-trees.ts';
import { readDiff } from './diff.ts';
import { readWindow } from './diff-window.ts';

const place = useRepository();

/** Reads all pages; the whole, and the number of pages that git had to make from the start. */
async function expectPages(
  before: readonly TreeFile[],
  after: readonly TreeFile[],
  limits: readonly number[],
) {
  const [from = '', to = ''] = await makeTrees(place, before, after);
  const whole = await readDiff(place, { from, to });
  let refused = 0;
  for (const limit of limits) {
    for (let offset = 0; offset < whole.total; offset += limit) {
      const page = await readWindow({ place, ends: { from, to }, renames: '-M' }, false, { offset, limit });
      if (page) expect(page).toEqual({ ...whole, files: whole.files.slice(offset, offset + limit) });
      else refused += 1;
    }
  }
  return { ...whole, refused };
}

const lines = (first: string): string =>
  [first, ...Array.from({ length: 20 }, (_, at) => `line ${at}`)].join('\n');

test('of renames, types, modes, folders that were files, and names that are no text', async () => {
  const before: TreeFile[] = [
    { path: 'a', text: 'a' },
    { path: 'became-folder', text: 'x' },
    { path: 'folder/one', text: lines('one') },
    { path: 'link', text: 'a' },
    { path: 'mode', text: 'm' },
    { path: 'same', text: 's' },
    { path: 'was-folder/in', text: 'y' },
    { path: ':(top)x*', text: 'magic' },
    { path: 'z', text: 'z' },
  ];
  const after: TreeFile[] = [
    { path: 'a', text: 'b' },
    { path: 'became-folder/in', text: 'other' },
    { path: 'elsewhere', text: lines('two') },
    { path: 'link', text: 'a', mode: '120000' },
    { path: 'mode', text: 'm', mode: '100755' },
    { path: 'same', text: 's' },
    { path: 'was-folder', text: 'another' },
    { path: ':(top)x*', text: 'changed' },
    { path: 'new', text: '' },
    { path: 'z', text: 'zz' },
  ];
  const { total } = await expectPages(before, after, [1, 2, 3, 5]);
  expect(total).toBe(12);
  const strange = [
    { path: '\xe9', text: 'é' },
    { path: '\xc3\xa9', text: 'e' },
  ];
  const unnamed = await expectPages(before, [...after, ...strange], [7]);
  expect(unnamed.files.filter(({ new_path }) => new_path === 'é')).toHaveLength(2);
  expect(unnamed.refused).toBe(2);
});

test.each(['name', '\xe9'])('of hundreds of files, of which one has the name %j', async (path) => {
  const files = (text: string): TreeFile[] =>
    Array.from({ length: 310 }, (_, at) => ({ path: `in/${at % 10}/${at}`, text: `${text}${at}` }));
  const before = [...files('old '), { path: 'a-file', text: lines('before') }];
  const after = [...files('new '), { path: 'z-file', text: lines('after') }, { path, text: 'made' }];
  const [from = '', to = ''] = await makeTrees(place, before, after);
  const whole = await readDiff(place, { from, to });
  expect(whole.files.filter((file) => file.renamed_file)).toHaveLength(1);
  const ownPatches = await readWindow({ place, ends: { from, to }, renames: '-M' }, false, {
    offset: 200,
    limit: 100,
  });
  expect(ownPatches !== undefined).toBe(path === 'name');
  for (const [offset, limit] of [
    [0, 0],
    [0, 100],
    [200, 100],
    [300, 100],
    [1_000_000, 100],
  ] as const)
    expect(await readDiff(place, { from, to }, { window: { offset, limit } })).toEqual({
      ...whole,
      files: whole.files.slice(offset, offset + limit),
    });
  const unidiff = await readDiff(place, { from, to }, { unidiff: true, window: { offset: 1, limit: 1 } });
  expect(unidiff.files[0]?.diff).toMatch(/^--- a\/in\/.*\n\+\+\+ b\/in\/.*\n@@ /);
});

test('beyond the end have no files', async () => {
  const [from = '', to = ''] = await makeTrees(place, [], [{ path: 'a', text: 'a' }]);
  const window = { offset: 1_000_000, limit: 100 };
  expect(await readDiff(place, { from, to }, { window })).toEqual({ files: [], total: 1, overflow: false });
});

test('of any change', async () => {
  const path = fc.constantFrom('a', 'b', 'c', 'd/a', 'd/b', 'e/a/a', 'e/a/b', 'f');
  const text = fc.constantFrom('', 'one\n', 'two\n', lines('one'), lines('two'), lines('three'));
  const mode = fc.constantFrom('100644', '100755', '120000');
  const files = fc
    .uniqueArray(fc.record({ path, text, mode }), { selector: (file) => file.path, maxLength: 8 })
    // An empty link is none.
    .map((all) =>
      all.map((file) => ({ ...file, text: file.mode === '120000' ? `${file.text}.` : file.text })),
    );
  await fc.assert(
    fc.asyncProperty(files, files, fc.integer({ min: 1, max: 4 }), async (before, after, limit) => {
      await expectPages(before, after, [limit]);
    }),
    { numRuns: 15 },
  );
}, 60_000);
