/** Commits made again, byte by byte. */
import { expect, test } from 'vitest';
import { rewrittenCommit } from './rewritten-commit.ts';

const changed = {
  tree: '3'.repeat(40),
  parents: ['4'.repeat(40)],
  committer: { name: 'Grace', email: 'grace@example.com', time: 7, zone: '+0000' },
};

test.each([
  ['no encoding', '', '\xc3\xa9', ' \n\xff\n', '\xc3\xa9', '', ' \n\xff\n'],
  ['a known one', 'encoding ISO-8859-1\n', '\xe9', '\xfc\n', '\xc3\xa9', '', '\xc3\xbc\n'],
  ['an unknown one', 'encoding KLINGON\n', '\xe9', '\xff\n', '\xe9', 'encoding KLINGON\n', '\xff\n'],
  ['one in which the headers cannot be', 'encoding UTF-16LE\n', 'a', 'a\0\0\0b\0', 'a', '', 'ab'],
])('with %s', (_, encoding, author, message, newAuthor, newEncoding, newMessage) => {
  const parents = `parent ${'1'.repeat(40)}\nparent ${'2'.repeat(40)}\n`;
  const signature = 'gpgsig -----BEGIN SSH SIGNATURE-----\n author no one\n';
  const content = [
    `tree ${'1'.repeat(40)}\n${parents}author ${author} <e> 1 -0730\n`,
    `committer x <x> 1 +0000\n${encoding}${signature}\n${message}`,
  ].join('');
  expect(rewrittenCommit(Buffer.from(content, 'latin1'), changed).content.toString('latin1')).toBe(
    `tree ${changed.tree}\nparent ${changed.parents[0]}\nauthor ${newAuthor} <e> 1 -0730\n` +
      `committer Grace <grace@example.com> 7 +0000\n${newEncoding}\n${newMessage}`,
  );
});
