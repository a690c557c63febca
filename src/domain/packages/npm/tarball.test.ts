import { expect, test } from 'vitest';
import { type TarEntry, tarEntries, tarFile } from '../../../../test/support/tar.ts';
import { tarballProblem } from './tarball.ts';

const published = { name: '@acme/stone', version: '1.0.0' };
const described = (changes: object = {}, name = 'package/package.json'): TarEntry => ({
  name,
  content: JSON.stringify({ ...published, ...changes }),
});

async function* arriving(archive: Buffer, length = 300) {
  for (let at = 0; at < archive.length; at += length) yield archive.subarray(at, at + length);
}
const problemOf = (...entries: TarEntry[]) => tarballProblem(arriving(tarFile(...entries)), published);

test.each([
  [[described()]],
  [[described({}, 'other/package.json')]],
  [[{ name: 'package/index.js', content: 'x'.repeat(2_000) }, described({ scripts: { install: 'x' } })]],
  [[described({ version: ' v1.0.0+build ' })]],
  [[described({ name: 'other' }, 'package/node_modules/other/package.json'), described()]],
  [
    [
      { name: 'package/', type: '5' },
      { name: 'x', type: 'x', content: '20 path=package/a/b\n' },
      described(),
    ],
  ],
  [[{ ...described(), content: `\ufeff${JSON.stringify(published)}` }]],
])('%j', async (entries) => {
  expect(await problemOf(...entries)).toBeUndefined();
});

test.each([
  [[], 'there is none'],
  [[{ name: 'package.json', content: '{}' }], 'there is none'],
  [[described({ name: 'stone' })], 'the name is another one'],
  [[described({ name: undefined })], 'the name is another one'],
  [[described({ version: '1.0.1' })], 'the version is another one'],
  [[described({ version: 1 })], 'the version is another one'],
  [[{ ...described(), content: '{' }], 'it is no JSON object'],
  [[{ ...described(), content: '[]' }], 'it is no JSON object'],
  [[{ ...described(), content: 'null' }], 'it is no JSON object'],
  // A client takes the last one, however its name is written.
  [[described(), described({ name: 'stone' })], 'the name is another one'],
  [[described(), described({ name: 'stone' }, 'b/package.json')], 'the name is another one'],
  [[described(), described({ name: 'stone' }, 'package//package.json')], 'the name is another one'],
  [[described(), described({ name: 'stone' }, 'package/PACKAGE.json')], 'the name is another one'],
  [
    [described(), { name: 'x', type: 'x', content: '29 path=package/package.json\n' }, described({}, 'a')],
    'it has a long name',
  ],
  [
    [described(), { name: 'x', type: 'L', content: 'package/package.json\0' }, described({}, 'a')],
    'it has a long name',
  ],
  [[described(), { ...described({ name: 'stone' }), type: '7' }], 'it is no plain file'],
  [[described(), { name: 'package/package.json', type: '2' }], 'it is no plain file'],
  [[{ name: 'x', type: 'x', content: 'a'.repeat(70_000) }, described()], 'a header is too large'],
  [[{ ...described(), content: ' '.repeat(1_048_577) }], 'it is too large'],
])('%j has a problem', async (entries, problem) => {
  expect(await problemOf(...entries)).toBe(problem);
});

test('an archive that ends early, and one that is none', async () => {
  const short = tarEntries(described()).subarray(0, 400);
  for (const archive of [short, Buffer.alloc(600, 'x'), Buffer.alloc(0)])
    await expect(tarballProblem(arriving(archive), published)).rejects.toThrow('not a tar file');
});
