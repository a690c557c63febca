import { expect, test } from 'vitest';
import { genericFile } from './rules.ts';

test.each([
  ['app', '1.0/app.tgz', { name: 'app', version: '1.0', fileName: 'app.tgz', savedAs: 'app.tgz' }],
  ['a_b+c-d.e', 'v1_2+3-4/A.b', { name: 'a_b+c-d.e', version: 'v1_2+3-4', fileName: 'A.b', savedAs: 'A.b' }],
  [
    'app',
    '1.0/linux/x64/app',
    { name: 'app', version: '1.0', fileName: 'linux%2Fx64%2Fapp', savedAs: 'app' },
  ],
  ['app', '1.0/a+b', { name: 'app', version: '1.0', fileName: 'a+b', savedAs: 'a+b' }],
])('%s %s', (name, rest, expected) => {
  expect(genericFile(name, rest)).toEqual(expected);
});

test.each([
  ['', '1.0/app', 'package_name'],
  ['..', '1.0/app', 'package_name'],
  ['a b', '1.0/app', 'package_name'],
  ['аpp', '1.0/app', 'package_name'],
  ['a/b', '1.0/app', 'package_name'],
  ['app', '/app', 'package_version'],
  ['app', '1..0/app', 'package_version'],
  ['app', '1 0/app', 'package_version'],
  ['app', '1.0', 'file_name'],
  ['app', '1.0/', 'file_name'],
  ['app', '1.0/..', 'file_name'],
  ['app', '1.0/a\0', 'file_name'],
  ['app', '1.0/a\n', 'file_name'],
  ['app', '1.0/../app', 'path'],
  ['app', '1.0//app', 'path'],
  ['app', `1.0/${'x'.repeat(256)}`, 'file_name'],
])('refuses %s %s', (name, rest, part) => {
  expect(() => genericFile(name, rest)).toThrow(`${part} is invalid`);
});
