/** Decisions about the files of a commit. */
import { expect, test } from 'vitest';
import { Failure } from '../../../platform/failure.ts';
import { contentOf, filePath, modeAfter, pickMessage, revertMessage } from './rules.ts';

test.each<[before: string | undefined, program: boolean | undefined, after: string]>([
  [undefined, undefined, '100644'],
  [undefined, true, '100755'],
  ['100755', undefined, '100755'],
  ['100755', false, '100644'],
  ['100644', true, '100755'],
  ['120000', true, '120000'],
  ['100664', undefined, '100664'],
])('a file of mode %s, asked to run: %s, gets %s', (before, program, after) => {
  expect(modeAfter(before, program)).toBe(after);
});

test.each<[content: string | undefined, encoding: 'text' | 'base64' | undefined, bytes: number[]]>([
  [undefined, undefined, []],
  ['ä', 'text', [0xc3, 0xa4]],
  ['YQ==', 'text', [0x59, 0x51, 0x3d, 0x3d]],
  ['YQ==', 'base64', [0x61]],
  ['YQ', 'base64', [0x61]],
  ['AP\n8=\n', 'base64', [0, 255]],
  ['', 'base64', []],
])('the content %j as %s', (content, encoding, bytes) => {
  expect([...Buffer.from(contentOf({ content, encoding }))]).toEqual(bytes);
});

// The long ones end only where no character is read again for each of the others.
test.each(['ä', 'a=b', '%', 'YQ===', `YQ${' '.repeat(3_000_000)}%`, `YQ=${'\n'.repeat(3_000_000)}a`])(
  '%.80j is not base64',
  (content) => {
    expect(() => contentOf({ content, encoding: 'base64' })).toThrow(Failure);
  },
);

test.each<[path: string | undefined, components: string[] | string]>([
  ['a', ['a']],
  ['a/b c/ä', ['a', 'b c', 'ä']],
  ['--help', ['--help']],
  [':(glob)*', [':(glob)*']],
  ['.gitignore', ['.gitignore']],
  [undefined, 'You must provide a file path'],
  ['', 'You must provide a file path'],
  ['.git', 'The file path is not valid'],
  ['a/.Git/config', 'The file path is not valid'],
  ['a/..', 'The file path is not valid'],
  ['a\n', 'The file path is not valid'],
])('the path %j', (path, expected) => {
  if (typeof expected === 'string') expect(() => filePath(path)).toThrow(expected);
  else expect(filePath(path)).toEqual(expected);
});

test('messages of what is picked and taken back', () => {
  expect(pickMessage('abc', 'Title\n\nText\n')).toBe('Title\n\nText\n\n(cherry picked from commit abc)');
  expect(revertMessage('abc', 'Title')).toBe('Revert "Title"\n\nThis reverts commit abc');
});
