import { expect, test } from 'vitest';
import { isMetadata, mavenFile, pathsOfProject, sentDigest, withoutStamp } from './rules.ts';

test.each([
  ['com/acme/app/1.0/app-1.0.jar', 'com/acme/app', '1.0', 'app-1.0.jar', undefined],
  ['com/acme/app/1.0/app-1.0.jar.sha1', 'com/acme/app', '1.0', 'app-1.0.jar', 'sha1'],
  ['com/acme/app/1.0/app-1.0.jar.md5', 'com/acme/app', '1.0', 'app-1.0.jar', 'md5'],
  ['com/acme/app/1.0/app-1.0.jar.sha256', 'com/acme/app', '1.0', 'app-1.0.jar.sha256', undefined],
  ['com/acme/app/1.0/app-1.0.jar.asc', 'com/acme/app', '1.0', 'app-1.0.jar.asc', undefined],
  ['com/acme/app/maven-metadata.xml', 'com/acme/app', null, 'maven-metadata.xml', undefined],
  ['com/acme/app/maven-metadata.xml.sha1', 'com/acme/app', null, 'maven-metadata.xml', 'sha1'],
  ['com/acme/app/maven-metadata.xml.sha512', 'com/acme/app', null, 'maven-metadata.xml.sha512', undefined],
  ['com/maven-metadata.xml', 'com', null, 'maven-metadata.xml', undefined],
  [
    'com/acme/app/1-SNAPSHOT/maven-metadata.xml',
    'com/acme/app',
    '1-SNAPSHOT',
    'maven-metadata.xml',
    undefined,
  ],
  [
    'com/acme/app/1-SNAPSHOT/app-1-20241128.010203-4.jar.md5',
    'com/acme/app',
    '1-SNAPSHOT',
    'app-1-20241128.010203-4.jar',
    'md5',
  ],
  ['a/1+2/c++.jar', 'a', '1+2', 'c++.jar', undefined],
  ['a.b_c-d/e/1/.jar', 'a.b_c-d/e', '1', '.jar', undefined],
])('%s', (path, name, version, fileName, digest) => {
  expect(mavenFile(path)).toEqual({ key: { type: 'maven', name, version }, fileName, digest });
});

test.each([
  ['', 'file_name'],
  ['a/1/', 'file_name'],
  ['a/1/..', 'file_name'],
  ['a/1/a\0.jar', 'file_name'],
  ['a/1/a\n', 'file_name'],
  ['a/1/a b', 'file_name'],
  ['a/1/%2e', 'file_name'],
  ['a/1/аpp.jar', 'file_name'],
  [`a/1/${'x'.repeat(256)}`, 'file_name'],
  ['app.jar', 'path'],
  ['maven-metadata.xml', 'path'],
  ['1/app.jar', 'path'],
  ['a/../app.jar', 'path'],
  ['a/1..2/app.jar', 'path'],
  ['a/./app.jar', 'path'],
  ['../a/1/app.jar', 'path'],
  ['a/../b/1/app.jar', 'path'],
  ['a//b/1/app.jar', 'path'],
  ['/a/1/app.jar', 'path'],
  ['a\\b/1/app.jar', 'path'],
  ['аcme/1/app.jar', 'path'],
  ['a\0/1/app.jar', 'path'],
  ['a/1\n/app.jar', 'path'],
  [`${'x'.repeat(256)}/1/app.jar`, 'path'],
])('refuses %j', (path, part) => {
  expect(() => mavenFile(path)).toThrow(`${part} is invalid`);
});

test('a package may be that of each project with whose path its own begins', () => {
  expect(pathsOfProject('com/acme/app/1.0/app.jar')).toEqual([
    'com/acme',
    'com/acme/app',
    'com/acme/app/1.0',
  ]);
  expect(pathsOfProject('app.jar')).toEqual([]);
  expect(pathsOfProject('a/'.repeat(1_000))).toHaveLength(20);
});

test.each([
  ['ABCDEF', 'abcdef'],
  ['abcdef  app.jar\n', 'abcdef'],
  ['', ''],
])('of %j the digest is %j', (body, digest) => {
  expect(sentDigest(body)).toBe(digest);
});

test.each([
  ['app-1-20241128.010203-4.jar', 'app-1.jar'],
  ['app-1-20241128.010203-4-sources.jar', 'app-1-sources.jar'],
  ['app-1-SNAPSHOT.jar', 'app-1-SNAPSHOT.jar'],
  ['app-1-2024112.010203-4.jar', 'app-1-2024112.010203-4.jar'],
  ['app-1-20241128.010203-4', 'app-1-20241128.010203-4'],
])('%s is the %s of its snapshot', (fileName, expected) => {
  expect(withoutStamp(fileName)).toBe(expected);
});

test.each([
  ['maven-metadata.xml', true],
  ['maven-metadata.xml.sha512', true],
  ['maven-metadata.xmlx', false],
  ['app-maven-metadata.xml', false],
])('that %s is metadata: %s', (fileName, expected) => {
  expect(isMetadata(fileName)).toBe(expected);
});
