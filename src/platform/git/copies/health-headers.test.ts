/** Headers of git's files beside the objects. */
import { expect, test } from 'vitest';
import { parseBitmap, parseCommitGraph, parseMultiPackIndex } from './health-headers.ts';

const graph = (...chunks: string[]) =>
  Buffer.concat([
    Buffer.from('CGPH'),
    Buffer.from([1, 1, chunks.length, 0]),
    ...[...chunks, '\0\0\0\0'].flatMap((name) => [Buffer.from(name), Buffer.alloc(8)]),
  ]);

test.each([
  [['OIDF'], { bloomFilters: false, generationData: false, generationOverflow: false }],
  [['OIDF', 'BIDX', 'BDAT'], { bloomFilters: true, generationData: false, generationOverflow: false }],
  [['GDA2', 'GDO2'], { bloomFilters: false, generationData: true, generationOverflow: true }],
])('a commit graph of %j', (chunks, expected) => {
  expect(parseCommitGraph(graph(...chunks), 2)).toEqual({ chainLength: 2, ...expected });
});

test('a bitmap and an index of several packs', () => {
  expect(parseBitmap(Buffer.from('BITM\0\x01\0\x15'))).toEqual({
    version: 1,
    hashCache: true,
    lookupTable: true,
  });
  expect(parseBitmap(Buffer.from('BITM\0\x01\0\x01'))).toMatchObject({
    hashCache: false,
    lookupTable: false,
  });
  expect(parseMultiPackIndex(Buffer.from('MIDX\x01\x01\x04\0\0\0\0\x03'))).toEqual({ version: 1, packs: 3 });
});

test.each(['', 'CGP', 'XXXXxxxxxxxxxxxx'])('%j is none of them', (text) => {
  const header = Buffer.from(text);
  expect([parseCommitGraph(header, 1), parseBitmap(header), parseMultiPackIndex(header)]).toEqual([
    undefined,
    undefined,
    undefined,
  ]);
});

test('a commit graph that is cut off has what is there', () => {
  expect(parseCommitGraph(graph('OIDF', 'GDA2').subarray(0, 14), 1)).toMatchObject({ generationData: false });
});
