import { expect, test } from 'vitest';
import { isOid, isSize, parsePointer } from './pointer.ts';

const OID = '4d7a214614ab2935c943f9e0ff69d22eadbb8f32b1258daaa5e2ca24d17e2393';
const VERSION = 'version https://git-lfs.github.com/spec/v1\n';
const EXTENSION = `ext-0-foo sha256:${OID}\n`;

test.each([
  ['a pointer', `${VERSION}oid sha256:${OID}\nsize 12345\n`, { oid: OID, size: 12_345 }],
  ['one of an empty file', `${VERSION}oid sha256:${OID}\nsize 0\n`, { oid: OID, size: 0 }],
  ['one with an extension', `${VERSION}${EXTENSION}oid sha256:${OID}\nsize 1\n`, { oid: OID, size: 1 }],
  ['one whose last line has no end', `${VERSION}oid sha256:${OID}\nsize 12345`, { oid: OID, size: 12_345 }],
  [
    'one with empty lines behind it',
    `${VERSION}oid sha256:${OID}\nsize 12345\n\n`,
    { oid: OID, size: 12_345 },
  ],
  ['what goes on behind it', `${VERSION}oid sha256:${OID}\nsize 12345\nmore\n`, undefined],
  ['what is before it', `# A pointer:\n${VERSION}oid sha256:${OID}\nsize 12345\n`, undefined],
  ['another digest', `${VERSION}oid sha1:${OID}\nsize 12345\n`, undefined],
  ['capitals', `${VERSION}oid sha256:${OID.toUpperCase()}\nsize 12345\n`, undefined],
  ['another order', `${VERSION}size 12345\noid sha256:${OID}\n`, undefined],
  ['a negative size', `${VERSION}oid sha256:${OID}\nsize -1\n`, undefined],
  ['a size beyond all numbers', `${VERSION}oid sha256:${OID}\nsize 9999999999999999\n`, undefined],
  ['a text that is too long', `${VERSION}${EXTENSION.repeat(12)}oid sha256:${OID}\nsize 1\n`, undefined],
  ['nothing', '', undefined],
])('%s', (_what, text, found) => {
  expect(parsePointer(Buffer.from(text))).toEqual(found);
});

test('ids and sizes', () => {
  expect(
    [OID, OID.toUpperCase(), OID.slice(1), `${OID}\0`, `../${OID}`, `${OID}\n`, 5, null].map(isOid),
  ).toEqual([true, ...Array(7).fill(false)]);
  expect([0, 1, 2 ** 53 - 1, 2 ** 53, 2 ** 63, -1, 0.5, '1', null].map(isSize)).toEqual([
    ...[true, true, true],
    ...Array(6).fill(false),
  ]);
});
