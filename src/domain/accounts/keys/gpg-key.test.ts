import { expect, test } from 'vitest';
import { gpgKey } from '../../../../test/support/sample-keys.ts';
import { readGpgFingerprint } from './gpg-key.ts';

test('the fingerprint is the one that gpg prints, with headers and other line ends too', () => {
  expect(readGpgFingerprint(gpgKey.key)).toBe(gpgKey.fingerprint);
  expect(readGpgFingerprint(`\n${gpgKey.key.replaceAll('\n', '\r\n')}\n`)).toBe(gpgKey.fingerprint);
  const withHeader = gpgKey.key.replace('BLOCK-----\n', 'BLOCK-----\nComment: of Ada\n');
  expect(readGpgFingerprint(withHeader)).toBe(gpgKey.fingerprint);
});

const armored = (...bytes: number[]) =>
  `-----BEGIN PGP PUBLIC KEY BLOCK-----\n\n${Buffer.from(bytes).toString('base64')}\n-----END PGP PUBLIC KEY BLOCK-----`;

test.each([
  ['nothing', ''],
  ['a private key', gpgKey.key.replaceAll('PUBLIC', 'PRIVATE')],
  ['a key without its end', gpgKey.key.slice(0, -10)],
  ['an empty block', armored()],
  ['a signature', armored(0x88, 1, 4)],
  ['a key of version 3', armored(0x98, 1, 3)],
  ['a packet longer than the block', armored(0x98, 200, 4)],
  ['a two-byte length cut off', armored(0x99, 1)],
])('refuses %s', (_, text) => {
  expect(readGpgFingerprint(text)).toBeUndefined();
});

test('old and new packet lengths give the same fingerprint', () => {
  const body = [4, ...Array.from({ length: 250 }, (_, index) => index)];
  const old = readGpgFingerprint(armored(0x99, 0, 251, ...body));
  expect(old).toMatch(/^[0-9A-F]{40}$/);
  expect(readGpgFingerprint(armored(0x98, 251, ...body))).toBe(old);
  expect(readGpgFingerprint(armored(0xc6, 192, 251 - 192, ...body))).toBe(old);
});
