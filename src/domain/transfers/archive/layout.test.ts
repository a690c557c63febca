/** Which entries of archives are read, passed over, or reasons to refuse the whole. */
import { expect, test } from 'vitest';
import { entryName, entryUse, exportName, isKnownVersion } from './layout.ts';

test.each<[name: string, use: ReturnType<typeof entryUse>]>([
  ['VERSION', 'read'],
  ['tree/project.json', 'read'],
  ['tree/project/issues.ndjson', 'read'],
  ['tree/groups/12/epics.ndjson', 'read'],
  ['project.wiki.bundle', 'read'],
  ['snippets/00000000000000ff.bundle', 'read'],
  ['uploads/0123456789abcdef0123456789abcdef/a b.png', 'read'],
  ['uploads/0123456789abcdef0123456789abcdef/...', 'read'],
  [`lfs-objects/${'a'.repeat(64)}`, 'read'],
  ['avatar/me.png', 'read'],
  ['project.design.bundle', 'passed over'],
  ['tree/project/Issues.ndjson', 'passed over'],
  ['tree/project/a/b.ndjson', 'passed over'],
  ['uploads/short/a.png', 'passed over'],
  ['uploads/0123456789abcdef0123456789abcdef/a/b', 'passed over'],
  ['lfs-objects/xyz', 'passed over'],
  ['', 'passed over'],
  ['..', 'refused'],
  ['../VERSION', 'refused'],
  ['uploads/../VERSION', 'refused'],
  ['uploads/..', 'refused'],
  ['/VERSION', 'refused'],
  ['C:VERSION', 'refused'],
  ['uploads\\x', 'refused'],
  ['VERSION\n', 'refused'],
  ['VER\u0000SION', 'refused'],
  ['a'.repeat(1_025), 'refused'],
])('%j is %s', (name, use) => {
  expect(entryUse(name)).toBe(use);
});

test.each([
  ['./VERSION', 'VERSION'],
  ['././a/b', 'a/b'],
  ['tree/', 'tree'],
  ['./', ''],
  ['./../a', '../a'],
])('the entry %j is %j', (given, name) => {
  expect(entryName(given)).toBe(name);
});

test.each([
  ['0.2.4', true],
  ['0.2.4\n', true],
  ['0.2.99', true],
  ['0.3.0', false],
  ['1.2.4', false],
  ['0.2', false],
  ['0.2.4 or so', false],
  ['', false],
])('the version %j is read: %j', (text, isKnown) => {
  expect(isKnownVersion(text)).toBe(isKnown);
});

test('an export has the time and the path in its name', () => {
  const time = new Date('2026-01-02T03:04:05.006Z');
  expect(exportName('a/b/c', time)).toBe('2026-01-02_03-04-006_a_b_c_export.tar.gz');
});
