import { expect, test } from 'vitest';
import {
  componentOf,
  isArchitecture,
  isName,
  isVersion,
  kindOf,
  pooledAt,
  poolFolder,
  requestedAt,
} from './rules.ts';

test.each([
  ['stone', true],
  ['lib.x++-1', true],
  ['0ad', true],
  ['s', false],
  ['Stone', false],
  ['-stone', false],
  ['../stone', false],
  ['ѕtone', false],
  ['stone\n', false],
  ['a'.repeat(256), false],
])('%j as a name: %s', (text, expected) => {
  expect(isName(text)).toBe(expected);
});

test.each([
  ['1', true],
  ['1.0-1', true],
  ['12:1.0~rc1+b2-1ubuntu1', true],
  ['1234567890:1', false],
  ['1:2:3', false],
  ['', false],
  ['-1', false],
  ['1/2', false],
  ['1 ', false],
  ['1\0', false],
  ['1'.repeat(300), false],
])('%j as a version: %s', (text, expected) => {
  expect(isVersion(text)).toBe(expected);
});

test.each([
  ['amd64', true],
  ['kfreebsd-i386', true],
  ['', false],
  ['amd64 arm64', false],
  ['AMD', false],
  ['../x', false],
])('%j as an architecture: %s', (text, expected) => {
  expect(isArchitecture(text)).toBe(expected);
});

test.each([
  ['stone_1.0-1_amd64.deb', 'deb'],
  ['stone-dbgsym_1.0_amd64.ddeb', 'deb'],
  ['stone_1.0_amd64.udeb', 'udeb'],
  ['stone_1.0.dsc', 'dsc'],
  ['stone_1.0_amd64.changes', 'changes'],
  ['stone_1.0_amd64.buildinfo', 'other'],
  ['stone_1.0.orig.tar.xz', 'other'],
  ['stone_1.0.orig.tar.gz.asc', 'other'],
  ['stone_1.0-1.diff.gz', 'other'],
])('%s is of the kind %s', (name, expected) => {
  expect(kindOf(name)).toBe(expected);
});

test.each([
  'stone',
  '.deb',
  'a/b.deb',
  '..%2f.deb',
  'stone.exe',
  'stone\0.deb',
  'stone.deb\n',
  `${'a'.repeat(300)}.deb`,
])('%j is refused', (name) => {
  expect(() => kindOf(name)).toThrow('file_name');
});

test.each([
  ['net', 'main'],
  ['non-free/net', 'non-free'],
])('the section %s is of the component %s', (section, expected) => {
  expect(componentOf(section)).toBe(expected);
});

const stone = { project_id: 7, name: 'stone', version: '1:1.0' };
test.each([
  [false, stone, 'pool/sid/s/stone/1:1.0'],
  [true, stone, 'pool/sid/7/s/stone/1:1.0'],
  [false, { ...stone, name: 'libstone' }, 'pool/sid/libs/libstone/1:1.0'],
])('where a file is: %#', (isOfGroup, file, expected) => {
  expect(poolFolder({ codename: 'sid', isOfGroup }, file)).toBe(expected);
  const path = `${expected.replace('pool/sid/', '')}/a.deb`;
  const { name, version } = file;
  expect(pooledAt(path, isOfGroup)).toEqual({
    ...(isOfGroup && { projectId: 7 }),
    ...{ name, version, fileName: 'a.deb' },
  });
});

test.each([
  ['s/stone/1.0/a.deb', true],
  ['07/s/stone/1.0/a.deb', true],
  ['7/s/stone/1.0/a.deb', false],
  ['t/stone/1.0/a.deb', false],
  ['s/stone/1.0', false],
  ['s/stone/1.0/..', false],
  ['s/stone/../a.deb', false],
  ['', false],
])('nothing is at %s', (path, isOfGroup) => {
  expect(pooledAt(path, isOfGroup)).toBeUndefined();
});

const sha256 = 'ab'.repeat(32);
test.each([
  ['InRelease', { kind: 'InRelease' }],
  ['Release', { kind: 'Release' }],
  ['Release.gpg', { kind: 'Release.gpg' }],
  ['main/binary-amd64/Packages', { kind: 'index', path: 'main/binary-amd64/Packages' }],
  ['main/source/Sources.gz', { kind: 'index', path: 'main/source/Sources.gz' }],
  [
    'main/debian-installer/binary-all/Packages',
    { kind: 'index', path: 'main/debian-installer/binary-all/Packages' },
  ],
  [
    `main/binary-amd64/by-hash/SHA256/${sha256}`,
    { kind: 'hash', folder: 'main/binary-amd64', sha256: Buffer.from(sha256, 'hex') },
  ],
  [
    `main/source/by-hash/SHA256/${sha256}`,
    { kind: 'hash', folder: 'main/source', sha256: Buffer.from(sha256, 'hex') },
  ],
  ['main/binary-amd64/Packages.xz', undefined],
  ['main/binary-amd64/Sources', undefined],
  ['main/source/Packages', undefined],
  [`main/binary-amd64/by-hash/MD5Sum/${sha256}`, undefined],
  ['release', undefined],
  ['../Release', undefined],
  [`${'a'.repeat(400)}/source/Sources`, undefined],
])('%s', (path, expected) => {
  expect(requestedAt(path)).toEqual(expected);
});
