/** The targets of a text's relative links, and the colours of its labels. */
import { expect, test } from 'vitest';
import { withDots, withRelativeLinks } from './rendered-markdown.ts';

const wiki = { wiki: { address: '/g/p/-/wikis', folder: 'tools' } };
const file = { file: { ref: 'a/b#', folder: ['docs', 'x y'] } };

test.each([
  ['<a href="hammer">x</a>', '<a href="/g/p/-/wikis/tools/hammer">x</a>'],
  ['<a href="../home#top">x</a>', '<a href="/g/p/-/wikis/home#top">x</a>'],
  ['<a href="../../../../etc">x</a>', '<a href="/g/p/-/wikis/etc">x</a>'],
  ['<a href="/root">x</a>', '<a href="/root">x</a>'],
  ['<a href="#here">x</a>', '<a href="#here">x</a>'],
  ['<a href="https://e.example/a">x</a>', '<a href="https://e.example/a">x</a>'],
  ['<a href="mailto:a@e.example">x</a>', '<a href="mailto:a@e.example">x</a>'],
  ['<p>href="hammer"</p>', '<p>href="hammer"</p>'],
  [
    '<a title="src=&quot;a&quot;" href="b">x</a>',
    '<a title="src=&quot;a&quot;" href="/g/p/-/wikis/tools/b">x</a>',
  ],
])('of a wiki: %s', (given, led) => expect(withRelativeLinks(given, wiki)).toBe(led));

test.each([
  ['<a href="../z.md?plain=1#L2">x</a>', '<a href="//-/blob/a/b%23/docs/z.md?plain=1#L2">x</a>'],
  ['<img src="p%20q.png" alt="">', '<img src="//-/raw/a/b%23/docs/x%20y/p%20q.png" alt="">'],
])('of a file: %s', (given, led) => expect(withRelativeLinks(given, file)).toBe(led));

test('elsewhere they stay as they are', () => {
  expect(withRelativeLinks('<a href="hammer">x</a>', {})).toBe('<a href="hammer">x</a>');
});

test('labels have their colour without a style', () => {
  const label = (style: string) =>
    `<span class="gl-label"><a href="/l"><span class="gl-label-text"${style}>x</span></a></span>`;
  const dotted = withDots(label(' style="background-color: #aAbb09"'));
  expect(dotted).toMatch(
    /<a href="\/l"><svg class="dot"[^<>]*><circle [^<>]*fill="#aAbb09"\/><\/svg><span class="gl-label-text">x/,
  );
  expect(withDots(label(''))).toBe(label(''));
});
