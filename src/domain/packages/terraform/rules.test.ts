import { expect, test } from 'vitest';
import { fileToken, moduleFile, moduleName, openedFile, requireVersion } from './rules.ts';

test('the parts of a name', () => {
  expect(moduleName('beacon-2', 'aws')).toBe('beacon-2/aws');
  expect(moduleFile('beacon-2/aws', '1.0.0')).toBe('beacon-2-aws-1.0.0.tgz');
});

test.each(['', 'A', 'a_b', 'a.b', '..', 'a/b', 'a b', 'a\0', 'a\n', 'а', 'x'.repeat(65)])(
  '%j is no part of a name',
  (part) => {
    expect(() => moduleName(part, 'aws')).toThrow('module_name is invalid');
    expect(() => moduleName('a', part)).toThrow('module_system is invalid');
  },
);

test.each(['0.0.0', '1.2.3', '1.0.0-rc.1', '1.0.0-alpha-b+build.5'])('%s is a version', (version) => {
  expect(() => requireVersion(version)).not.toThrow();
});

test.each([
  ...['', '1', '1.0', 'v1.0.0', '01.0.0', '1.0.0-', '1.0.0-a..b', '1.0.0+', '1.0.0/..', '1.0.0\0', '１.0.0'],
  `1.0.${'1'.repeat(300)}`,
])('%j is no version', (version) => {
  expect(() => requireVersion(version)).toThrow('module_version is invalid');
});

test('a token opens its file for a while', () => {
  const key = Buffer.alloc(32, 1);
  const time = new Date('2024-11-28T00:00:00Z');
  const token = fileToken(key, 5, time);
  const later = (seconds: number) => new Date(time.getTime() + seconds * 1_000);
  expect(openedFile(key, token, later(299))).toBe(5);
  expect(openedFile(key, token, later(301))).toBeUndefined();
  expect(openedFile(Buffer.alloc(32, 2), token, time)).toBeUndefined();
  for (const text of ['', 'x', `${token}=`]) expect(openedFile(key, text, time)).toBeUndefined();
});
