import { expect, test } from 'vitest';
import { entryOf, type IndexedFile, indexesOf, releaseText } from './index-documents.ts';

const distribution = {
  ...{ codename: 'sid', suite: null, origin: null, label: null, version: null, description: null },
  ...{ valid_time_duration_seconds: null, components: ['main', 'contrib'], architectures: ['all', 'amd64'] },
  project_id: 1,
};
const file = (fields: Partial<IndexedFile> = {}): IndexedFile => ({
  ...{ project_id: 1, name: 'stone', version: '1.0', file_name: 'stone_1.0_amd64.deb', component: 'main' },
  ...{ kind: 'deb', architecture: 'amd64', stanza: 'Package: stone\n', ...fields },
});
const shown = (files: IndexedFile[], project_id: number | null = 1) =>
  Object.fromEntries(
    indexesOf(
      distribution,
      files.map((each) => entryOf({ codename: 'sid', project_id }, each)),
    ).map(({ path, paragraphs }) => [path, paragraphs.join('')]),
  );

const empty = {
  'main/binary-all/Packages': '',
  'main/binary-amd64/Packages': '',
  'main/source/Sources': '',
  'contrib/binary-all/Packages': '',
  'contrib/binary-amd64/Packages': '',
  'contrib/source/Sources': '',
};

test('each component and architecture has its index, and every one what is for all', () => {
  const all = file({ file_name: 'a_all.deb', architecture: 'all', stanza: 'Package: aa\n' });
  const forAll = 'Package: aa\nFilename: pool/sid/s/stone/1.0/a_all.deb\n\n';
  expect(shown([file(), all, file({ component: 'other' }), file({ architecture: 'arm64' })])).toEqual({
    ...empty,
    'main/binary-all/Packages': forAll,
    'main/binary-amd64/Packages': `Package: stone\nFilename: pool/sid/s/stone/1.0/stone_1.0_amd64.deb\n\n${forAll}`,
  });
});

test('sources, what the installer has, and projects of a group', () => {
  const source = file({
    kind: 'dsc',
    architecture: 'source',
    component: 'contrib',
    stanza: 'Package: rock\n',
  });
  expect(shown([source, file({ kind: 'udeb' })], null)).toEqual({
    ...empty,
    'main/debian-installer/binary-amd64/Packages':
      'Package: stone\nFilename: pool/sid/1/s/stone/1.0/stone_1.0_amd64.deb\n\n',
    'contrib/source/Sources': 'Package: rock\nDirectory: pool/sid/1/s/stone/1.0\n\n',
  });
});

const indexes = [{ path: 'main/source/Sources', sha256: Buffer.from('abcd', 'hex'), size: 7 }];
const time = new Date('2026-01-02T03:04:05.678Z');

test('a release says what it has', () => {
  expect(releaseText(distribution, indexes, time)).toBe(`Codename: sid
Date: Fri, 02 Jan 2026 03:04:05 UTC
Acquire-By-Hash: yes
No-Support-for-Architecture-all: Packages
Architectures: all amd64
Components: main contrib
SHA256:
 abcd 7 main/source/Sources
`);
});

test('a release says whose it is, and how long it is valid', () => {
  const whole = {
    ...{ ...distribution, suite: 'unstable', origin: 'Quarry', label: 'Stones', version: '1' },
    ...{ description: 'Dark', valid_time_duration_seconds: 86_400 },
  };
  const text = releaseText(whole, indexes, time);
  expect(text).toMatch(/^Origin: Quarry\nLabel: Stones\nSuite: unstable\nVersion: 1\nCodename: sid\n/);
  expect(text).toContain('\nValid-Until: Sat, 03 Jan 2026 03:04:05 UTC\n');
  expect(text).toContain('\nDescription: Dark\n');
});
