import { gzipSync, zstdCompressSync } from 'node:zlib';
import { expect, test } from 'vitest';
import { arFile, controlOf, debOf } from '../../../../test/support/deb.ts';
import { tarFile } from '../../../../test/support/tar.ts';
import { controlIn } from './deb-archive.ts';

/** As xz packed a control archive. */
const XZ = Buffer.from(
  '/Td6WFoAAATm1rRGAgAhARYAAAB0L+Wj4Cf/AK1dABcLyOfZ5dHD1ZV9QtvcDlxs1FkS8hVsMdlgIdL75GkLEhXBA3q5zP9D4PjPWlMTBEulX7/50WG5B8yvtb5dxcGMCDYI+t+EsLa/d3q9/YTluoyyMXejX1oVIq44wPhytsgXHgfLN+gwwdGMBkFfKld1GuJ+iJ89fri+BYGZ4nOH8vWy7EGvGNCzhRcp0tklYWV3K5N02sePTES7xNsfSIGQFYe4nqxz032bhrAAAAAAALLhEroBxI7nAAHJAYBQAACaKjdJscRn+wIAAAAABFla',
  'base64',
);
const MIB = 1_048_576;

const read = (archive: Buffer) =>
  controlIn(async (position, length) => archive.subarray(position, position + length));

test.each([
  ['.gz', gzipSync],
  ['.zst', zstdCompressSync],
  ['', (tar: Buffer) => tar],
] as const)('the control file of control.tar%s', async (ending, pack) => {
  expect(await read(debOf(controlOf(), { ending, pack }))).toBe(controlOf());
});

test('the control file of control.tar.xz', async () => {
  expect(await read(debOf('', { ending: '.xz', pack: () => XZ }))).toContain('Package: stone\n');
});

test('names may end as GNU ends them, and others may stand before', async () => {
  const tar = tarFile({ name: 'control', content: 'a' });
  const members = [
    { name: '_odd/', content: Buffer.from('odd') },
    { name: 'control.tar/', content: tar },
  ];
  expect(await read(arFile(...members))).toBe('a');
});

const whole = debOf(controlOf());
const large = (ending: string, pack: (bytes: Buffer) => Buffer) =>
  debOf('', { ending, pack: () => pack(Buffer.alloc(17 * MIB)) });
test.each([
  [Buffer.from(''), 'not a Debian package'],
  [Buffer.from('granite granite'), 'not a Debian package'],
  [whole.subarray(0, 100), 'not a Debian package'],
  [whole.subarray(0, 160), 'not a whole Debian package'],
  [arFile(), 'not a Debian package'],
  [arFile({ name: 'a', content: Buffer.from(''), size: '-1' }), 'not a Debian package'],
  [arFile({ name: 'a', content: Buffer.from(''), end: 'ab' }), 'not a Debian package'],
  [arFile({ name: 'control.tar', content: Buffer.from(''), size: '9999999999' }), 'too large'],
  [
    arFile(...Array.from({ length: 20 }, () => ({ name: 'a', content: Buffer.from('') }))),
    'without a control archive',
  ],
  [debOf('', { ending: '.lzma' }), 'packed otherwise'],
  [debOf('', { ending: '.gz', pack: (tar) => tar }), 'not packed as'],
  [debOf('', { ending: '.zst', pack: (tar) => tar }), 'not packed as'],
  [debOf('', { ending: '.xz', pack: (tar) => tar }), 'not packed by xz'],
  [large('.gz', gzipSync), 'too large'],
  [large('.zst', zstdCompressSync), 'too large'],
  [debOf('a'.repeat(300_000)), 'control file is too large'],
  [debOf('', { pack: () => gzipSync(tarFile({ name: 'other' })) }), 'without a control file'],
  [debOf('', { pack: () => gzipSync(tarFile({ name: './control', type: '2' })) }), 'without a control file'],
  [debOf('', { pack: () => gzipSync('granite') }), 'not a tar file'],
])('%# is refused', async (archive, problem) => {
  await expect(read(archive)).rejects.toThrow(problem);
});
