/** Titles, slugs and files of pages, front matter, and names of attachments: tables of cases. */
import { describe, expect, test } from 'vitest';
import { joinFrontMatter, splitFrontMatter } from './front-matter.ts';
import { attachmentName, endingFor, markdownOf, nameOf, slugOf } from './rules.ts';
import { pageAt } from './wiki-pages.ts';

describe('a file is a page by its ending', () => {
  test.each([
    ['home.md', 'home', 'home', 'markdown'],
    ['Some-folder/A-page.markdown', 'Some-folder/A-page', 'A page', 'markdown'],
    ['notes.MKD', 'notes', 'notes', 'markdown'],
    ['v1.2.rdoc', 'v1.2', 'v1.2', 'rdoc'],
    ['a.adoc', 'a', 'a', 'asciidoc'],
    ['a.org', 'a', 'a', 'org'],
    ['_sidebar.md', '_sidebar', '_sidebar', 'markdown'],
    ['.git.md', '.git', '.git', 'markdown'],
  ])('%s', (path, slug, title, format) => {
    expect(pageAt(path)).toEqual({ path, slug, title, format });
  });

  test.each(['picture.png', 'README', '.md', 'a.md/b', `${'long/'.repeat(200)}x.md`])(
    '%s is none',
    (path) => {
      expect(pageAt(path)).toBeUndefined();
    },
  );
});

test.each([
  ['Home', 'Home'],
  ['  A new  page ', 'A-new--page'],
  ['folder/A page', 'folder/A-page'],
  ['../x', 'x'],
  ['../../../etc/passwd', 'etc/passwd'],
  ['/a//b/./c/', 'a/b/c'],
  ['..', ''],
  ['日本 語', '日本-語'],
])('the slug of %j is %j', (title, slug) => {
  expect(slugOf(title)).toBe(slug);
});

test.each([
  ['', "can't be blank"],
  [' / ', "can't be blank"],
  ['x'.repeat(300), 'exceeds the limit of 245 bytes'],
  ['é'.repeat(123), 'exceeds the limit of 245 bytes'],
  [`${'d'.repeat(256)}/x`, `exceeds the limit of 255 bytes for directory name "${'d'.repeat(256)}"`],
  [`${`${'d'.repeat(250)}/`.repeat(4)}x`, 'exceeds the limit of 1000 bytes'],
  [`x${'/'.repeat(10_000)}`, 'exceeds the limit of 1000 bytes'],
  ['.git/config', 'is invalid'],
  ['a/.GIT./hooks', 'is invalid'],
  ['git~1/x', 'is invalid'],
  ['a\\.git\\x', 'is invalid'],
  ['a\nb', 'is invalid'],
  ['a\0b', 'is invalid'],
])('the title %j is no page: %s', (title, problem) => {
  expect(nameOf(title, 'md')).toEqual({ problem });
});

test('the longest title is a page', () => {
  expect(nameOf('x'.repeat(245), 'asciidoc')).toMatchObject({ slug: 'x'.repeat(245), format: 'asciidoc' });
});

test.each([
  ['a.markdown', 'markdown', 'markdown'],
  ['a.MD', 'markdown', 'MD'],
  ['a.markdown', 'org', 'org'],
  ['a.org', 'markdown', 'md'],
] as const)('%s in the format %s ends with %s', (path, format, ending) => {
  const page = pageAt(path);
  expect(page && endingFor(page, format)).toBe(ending);
});

test.each([
  ['dk.png', 'dk.png'],
  ['.git', '_git'],
  ['...', '_'],
  ['', '_'],
  ['my file (1).tar.gz', 'my_file__1_.tar.gz'],
  ['git~1', 'git_1'],
  ['a/../b\0\n.md', 'a_.._b__.md'],
  [`${'x'.repeat(300)}.png`, `${'x'.repeat(196)}.png`],
])('the attachment %j is kept as %s', (filename, name) => {
  expect(attachmentName(filename)).toBe(name);
});

test('Markdown shows pictures and links to the rest', () => {
  expect(markdownOf('dk.png', 'uploads/1/dk.png')).toBe('![dk](uploads/1/dk.png)');
  expect(markdownOf('a.pdf', 'uploads/1/a.pdf')).toBe('[a.pdf](uploads/1/a.pdf)');
});

describe('front matter', () => {
  test.each([
    ['no block', {}, 'no block'],
    ['---\ntitle: A page\n---\ntext', { title: 'A page' }, 'text'],
    ['---\r\ntitle: A page\r\n---\r\ntext', { title: 'A page' }, 'text'],
    ['---\n---\ntext\n', {}, 'text\n'],
    ['---\ntitle: x\n---', { title: 'x' }, ''],
    [
      '---\na: 1\nb: true\nc:\nd: "q: \\"r\\""\ne: \'it\'\'s\'\n\n---\n',
      { a: 1, b: true, c: null, d: 'q: "r"', e: "it's" },
      '',
    ],
    [
      '---\na: +4930\nb: 12345678901234567890\nc: 1.10\nd: -007\na: later\n---\n',
      { a: 'later', b: '12345678901234567890', c: '1.10', d: -7 },
      '',
    ],
    ['---\ntel: +4930\n---\n', { tel: '+4930' }, ''],
  ])('%j', (text, frontMatter, content) => {
    expect(splitFrontMatter(text)).toEqual({ frontMatter, content });
  });

  test.each([
    '---\ntitle: x\nnever closed',
    '---\nlist:\n  - a\n---\ntext',
    '---\nlist: [a]\n---\ntext',
    '---\na: b # note\n---\ntext',
    '---\na: b: c\n---\ntext',
    '---\na: &anchor\n---\ntext',
    '---\na: &x b\nc: *x\n---\ntext',
    `---\na: &a b\n${[...'bcdefghi'].map((key, at) => `${key}: &${key} [${`*${'abcdefgh'[at]},`.repeat(9)}]\n`).join('')}---\n`,
    '---\na: !!js/function x\n---\ntext',
    '---\na: |\nb: c\n---\ntext',
    '---\na: "b\nc: d"\n---\ntext',
    '---\n<<: *x\n---\ntext',
    `---\na: ${'b'.repeat(5_000)}\n---\ntext`,
    '---\nno pair\n---\ntext',
    'text\n---\ntitle: x\n---\n',
  ])('what is more than plain lines stays in the content: %j', (text) => {
    expect(splitFrontMatter(text)).toEqual({ frontMatter: {}, content: text });
  });

  test.each([
    'A page',
    'a: b',
    '"',
    "it's",
    '- x',
    '12',
    'true',
    '~',
    'a #b',
    ' spaced ',
    'two\nlines\n---\n',
    '\t',
  ])('the value %j comes back as it was written', (title) => {
    const text = joinFrontMatter({ title }, '---\nbody');
    expect(splitFrontMatter(text)).toEqual({ frontMatter: { title }, content: '---\nbody' });
  });

  test('none is written for nothing', () => {
    expect(joinFrontMatter({ title: '' }, 'text')).toBe('text');
  });

  test('a key named as a property of objects is a key', () => {
    const { frontMatter } = splitFrontMatter('---\n__proto__: x\n---\n');
    expect(Object.entries(frontMatter)).toEqual([['__proto__', 'x']]);
  });
});
