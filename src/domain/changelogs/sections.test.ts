/** The sections of a changelog's file. */
import { expect, test } from 'vitest';
import { sectionOf, withSection } from './sections.ts';
import { parseVersion } from './versions.ts';

const add = (text: string, version: string) => {
  const parsed = parseVersion(version);
  if (!parsed) throw new Error('no version');
  return withSection(text, parsed, sectionOf(version, '2026-01-01', '\nChanges.\n\n'));
};
const section = (version: string) => `## ${version} (2026-01-01)\n\nChanges.\n`;

test.each([
  ['', '1.0.0', section('1.0.0')],
  ['# Changes\n', '1.0.0', `# Changes\n\n${section('1.0.0')}`],
  [
    `# Changes\n\n${section('2.0.0')}\n${section('1.0.0')}`,
    '1.5.0',
    `# Changes\n\n${section('2.0.0')}\n${section('1.5.0')}\n${section('1.0.0')}`,
  ],
  [section('1.0.0'), '2.0.0', `${section('2.0.0')}\n${section('1.0.0')}`],
  [section('1.0.0'), '0.9.0', `${section('1.0.0')}\n${section('0.9.0')}`],
  [section('1.0.0'), '1.0.0-rc1', `${section('1.0.0')}\n${section('1.0.0-rc1')}`],
  ['## v1.0.0\r\nOld.', '1.1.0', `${section('1.1.0')}\n## v1.0.0\r\nOld.`],
  ['## Unreleased\nNew.', '1.1.0', `## Unreleased\nNew.\n\n${section('1.1.0')}`],
])('%j gets %s', (text, version, expected) => {
  expect(add(text, version)).toBe(expected);
});

test('a version has one section', () => {
  expect(add(`${section('2.0.0')}\n${section('1.0.0')}`, '1.0.0')).toBeUndefined();
});

test('titles are looked at up to the ten thousandth', () => {
  const file = (before: number) => `${'## Else\n'.repeat(before)}## 1.0.0\n`;
  expect(add(file(9_999), '1.0.0')).toBeUndefined();
  expect(add(file(10_000), '1.0.0')).toBe(`${file(10_000)}\n${section('1.0.0')}`);
});
