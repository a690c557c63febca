import { expect, test } from 'vitest';
import { normalName } from '../names/python-names.ts';
import { pythonFile } from './rules.ts';

const digests = { sha256: 'ab', md5: 'cd' };
const file = 'granite-1.0.tar.gz';

test.each([
  ['Granite', 'granite'],
  ['a.b_c-d', 'a-b-c-d'],
  ['a-_.-b', 'a-b'],
])('%s is %s in an index', (name, expected) => {
  expect(normalName(name)).toBe(expected);
});

test.each([
  ...['1', '1.0', 'v1.0', '1!2.0', '1.0a1', '1.0.beta.2', '1.0rc1', '1.0-1', '1.0.post1', '1.0.dev3'],
  ...['1.0a1.post2.dev3+local.1', '2024.11.28', '1.0+ABC'],
])('%s is a version', (version) => {
  expect(pythonFile({ name: 'granite', version }, file, digests).version).toBe(version);
});

test.each(['', 'one', '1.0 ', '1..0', '1.0+', '1.0/..', '1.0\0', '１.0', `1.${'0'.repeat(300)}`])(
  '%j is no version',
  (version) => {
    expect(() => pythonFile({ name: 'granite', version }, file, digests)).toThrow('version');
  },
);

test.each(['', '-a', 'a-', 'a/b', 'а', 'a b', '..', 'x'.repeat(256)])('%j is no name', (name) => {
  expect(() => pythonFile({ name, version: '1' }, file, digests)).toThrow('name');
});

test.each(['', '.tar.gz\0', 'granite', '../granite.whl', 'a/b.whl', 'granite.sh', `${'x'.repeat(256)}.whl`])(
  '%j is no file',
  (filename) => {
    expect(() => pythonFile({ name: 'granite', version: '1' }, filename, digests)).toThrow('distribution');
  },
);

test('digests are those of the content, where they are given', () => {
  const given = { name: 'granite', version: '1' };
  expect(pythonFile({ ...given, sha256_digest: 'AB', md5_digest: '' }, file, digests)).toEqual({
    ...given,
    fileName: file,
    metadata: {},
  });
  expect(() => pythonFile({ ...given, sha256_digest: 'ba' }, file, digests)).toThrow('sha256_digest');
  expect(() => pythonFile({ ...given, md5_digest: 'ba' }, file, digests)).toThrow('md5_digest');
});

test('what it requires of Python is cut', () => {
  const given = { name: 'granite', version: '1', requires_python: `>=3${' '.repeat(300)}` };
  expect(pythonFile(given, file, digests).metadata.requires_python).toHaveLength(255);
});
