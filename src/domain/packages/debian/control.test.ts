import { expect, test } from 'vitest';
import { controlOf, listsOf } from '../../../../test/support/deb.ts';
import { binaryOf, changesOf, sourceOf } from './control.ts';

test('a package of its control file', () => {
  expect(binaryOf(controlOf({ Source: 'rock (2:3-1)', Multi: '', Architecture: 'all' }))).toEqual({
    architecture: 'all',
    source: 'rock',
    sourceVersion: '2:3-1',
    stanza: `Package: stone
Version: 1.0-1
Architecture: all
Maintainer: Ann <ann@example.com>
Description: granite
 dark
Source: rock (2:3-1)
Multi:
`,
  });
});

test('without a source it is its own', () => {
  expect(binaryOf(controlOf())).toMatchObject({ source: 'stone', sourceVersion: '1.0-1' });
  expect(binaryOf(controlOf({ Source: 'rock' }))).toMatchObject({ source: 'rock', sourceVersion: '1.0-1' });
});

test('what an index says itself is left out', () => {
  const text = controlOf({ Filename: '/etc/passwd', SHA256: 'a', size: '1', MD5sum: 'b' });
  expect(binaryOf(text).stanza).toBe(binaryOf(controlOf()).stanza);
});

test('the package is named first, wherever it stands', () => {
  const text = 'Version: 1\r\nArchitecture: all\r\npackage: stone\r\n';
  expect(binaryOf(text).stanza).toBe('Package: stone\nVersion: 1\nArchitecture: all\n');
});

test.each([
  ['', 'is empty'],
  ['\n\n', 'is empty'],
  ['granite', 'no field'],
  [' granite', 'no field'],
  ['-a: b', 'no field'],
  [controlOf({ Package: '../a' }), 'Package is invalid'],
  [controlOf({ Package: '' }), 'Package is invalid'],
  [controlOf({ Version: 'a/b' }), 'Version is invalid'],
  [controlOf({ Architecture: 'amd64 arm64' }), 'Architecture is invalid'],
  [controlOf({ Source: 'rock (1' }), 'Source is invalid'],
  [controlOf({ package: 'other' }), 'twice'],
  [`${controlOf()}\nPackage: other\n`, 'more than one paragraph'],
  [controlOf({ Description: 'a\n \n\t\n b' }), 'more than one paragraph'],
  [`${controlOf()}${'\n'.repeat(260_000)}a`, 'more than one paragraph'],
  [controlOf({ Description: 'a\rFilename: b' }), 'more than one paragraph'],
  [controlOf({ Description: 'a\0' }), 'control character'],
  [controlOf({ Description: 'a\u{85}' }), 'control character'],
  [controlOf({ Description: 'a'.repeat(300_000) }), 'characters'],
  [controlOf(Object.fromEntries(Array.from({ length: 200 }, (_, at) => [`A${at}`, 'b']))), 'fields'],
])('%# is refused', (text, problem) => {
  expect(() => binaryOf(text)).toThrow(problem);
});

const archive = { 'stone_1.0.tar.xz': Buffer.from('a') };
const dsc = `Format: 3.0 (native)\nSource: stone\nBinary: stone\nVersion: 1.0\n${listsOf(archive)}`;
const signed = (text: string) =>
  `-----BEGIN PGP SIGNED MESSAGE-----\nHash: SHA512\n\n${text.replace(/^-/gm, '- -')}\n-----BEGIN PGP SIGNATURE-----\n\na\n-----END PGP SIGNATURE-----\n`;

test.each([dsc, signed(dsc)])('a source of its description: %#', (text) => {
  expect(sourceOf(text)).toEqual({
    source: 'stone',
    sourceVersion: '1.0',
    stanza: 'Package: stone\nFormat: 3.0 (native)\nBinary: stone\nVersion: 1.0\n',
    files: [
      {
        name: 'stone_1.0.tar.xz',
        size: 1,
        md5: '0cc175b9c0f1b6a831c399e269772661',
        sha1: '86f7e437faa5a7fce15d1ddcb9eaeaea377667b8',
        sha256: 'ca978112ca1bbdcafac231b39a23dc4da786eff8147c4e72b9807785afee48bb',
      },
    ],
  });
});

const changes = `Source: stone\nVersion: 1.0\nDistribution: sid\n${listsOf(archive, 'contrib/net')}`;
test.each([changes, signed(changes)])('an upload of its description: %#', (text) => {
  expect(changesOf(text)).toMatchObject({
    ...{ source: 'stone', sourceVersion: '1.0', distribution: 'sid' },
    files: [{ name: 'stone_1.0.tar.xz', size: 1, section: 'contrib/net' }],
  });
});

test('the version of what was built again is not that of the source', () => {
  const text = changes.replace('Source: stone', 'Source: stone (0.9)');
  expect(changesOf(text)).toMatchObject({ source: 'stone', sourceVersion: '0.9' });
});

test.each([
  [changes.replace('Distribution: sid', 'Distribution: sid other'), 'Distribution is invalid'],
  [changes.replace('Source: stone\n', ''), 'Source is invalid'],
  [changes.replace(/Files:[\s\S]*/, ''), 'Files is missing'],
  [changes.replace(/Checksums-Sha256:\n.*\n/, ''), 'Checksums-Sha256 is not there'],
  [changes.replaceAll('stone_1.0.tar.xz', '../stone'), 'Files is invalid'],
  [changes.replace(' contrib/net optional', ''), 'Files is invalid'],
  [changes.replace('0cc175b9', 'ZZZZZZZZ'), 'Files is invalid'],
  [changes.replace('86f7e437', 'ZZZZZZZZ'), 'Checksums-Sha1 is invalid'],
  [
    `Source: stone\nVersion: 1.0\nDistribution: sid\n${listsOf(
      Object.fromEntries(Array.from({ length: 501 }, (_, at) => [`a${at}.deb`, Buffer.from('a')])),
      'net',
    )}`,
    'more than 500 files',
  ],
  [
    `Source: stone\nVersion: 1.0\nDistribution: sid\n${listsOf(
      { 'stone_1.0.dsc': Buffer.from('a'), 'stone_1.dsc': Buffer.from('a') },
      'net',
    )}`,
    'more than one .dsc file',
  ],
])('the description of an upload is refused: %#', (text, problem) => {
  expect(() => changesOf(text)).toThrow(problem);
});

test.each([
  [dsc.replace('Source: stone', 'Source: Stone'), 'Source is invalid'],
  [dsc.replace('Version: 1.0', 'Version: '), 'Version is invalid'],
  [dsc.replace(/Files:[\s\S]*/, ''), 'Files is missing'],
])('the description of a source is refused: %#', (text, problem) => {
  expect(() => sourceOf(text)).toThrow(problem);
});
