/** Rendered Markdown, and attempts at cross-site scripting, each parsed as a browser would. */
import { describe, expect, test } from 'vitest';
import { type Dialect, renderDocument } from './engine.ts';
import { escapeText } from './rendered.ts';

const dialect: Dialect = { gfm: true, baseUrl: 'https://here.example', uploads: '/-/project/7' };

/** The HTML with each reference as a link that a resolver could have made. */
function render(text: string, as: Dialect = dialect): string {
  const { texts, fragments } = renderDocument(text, as);
  return texts
    .map((piece, index) => {
      const fragment = fragments[index];
      if (!fragment) return piece;
      if ('html' in fragment) return piece + fragment.html;
      return `${piece}<a href="/found" title="&quot;">${escapeText(fragment.reference.text)}</a>`;
    })
    .join('')
    .trim();
}

const allowed = new Map<string, readonly string[]>([
  ...'h1 h2 h3 h4 h5 h6 p br hr ul ol li dl dt dd blockquote pre code em strong b i s strike del ins sub sup kbd samp var q abbr tt div span details summary ruby rt rp table thead tbody tfoot tr'
    .split(' ')
    .map((tag): [string, readonly string[]] => [
      tag,
      ['dir', 'class', 'start', 'value', 'title', 'open', 'data-sourcepos'],
    ]),
  ...[1, 2, 3, 4, 5, 6].map((level): [string, readonly string[]] => [
    `h${level}`,
    ['dir', 'id', 'data-sourcepos'],
  ]),
  ['th', ['dir', 'align', 'colspan', 'rowspan', 'data-sourcepos']],
  ['td', ['dir', 'align', 'colspan', 'rowspan', 'data-sourcepos']],
  ['a', ['href', 'title', 'rel', 'dir', 'aria-label', 'data-heading-content', 'class', 'data-sourcepos']],
  ['img', ['src', 'alt', 'title', 'width', 'height', 'dir', 'data-sourcepos']],
  ['input', ['type', 'class', 'disabled', 'checked']],
  ['gl-emoji', ['title', 'data-name', 'data-unicode-version']],
]);

const tagPattern = /<\/?([a-z][a-z0-9-]*)((?: [a-z-]+(?:="[^"<>]*")?)*)(?: \/)?>/g;
const decode = (text: string): string =>
  text.replaceAll('&quot;', '"').replaceAll('&lt;', '<').replaceAll('&gt;', '>').replaceAll('&amp;', '&');

/** Disallowed parts of the HTML, as a browser would find them. */
function problems(html: string): string[] {
  const found: string[] = [];
  for (const [whole, tag = '', attributes = ''] of html.matchAll(tagPattern)) {
    const names = allowed.get(tag);
    if (!names) found.push(`element ${whole}`);
    for (const [, name = '', value = ''] of attributes.matchAll(/ ([a-z-]+)(?:="([^"]*)")?/g)) {
      if (!names?.includes(name)) found.push(`attribute ${whole}`);
      if (name === 'data-sourcepos' && !/^\d+:\d+-\d+:\d+$/.test(value)) found.push(`position ${whole}`);
      if (name === 'id' && !/^user-content-[^\s"]+$/.test(value)) found.push(`id ${whole}`);
      if (name === 'class' && tag === 'a' && value !== 'anchor') found.push(`class ${whole}`);
      const address = decode(value);
      const leads = /^(https?:\/\/|mailto:|\/(?![/\\])|#|\?|[\w.-]+(\/|$|[?#]))/i.test(address);
      if ((name === 'href' || name === 'src') && address !== '' && !leads) found.push(`address ${whole}`);
    }
  }
  const rest = html.replaceAll(tagPattern, '');
  if (/[<]/.test(rest)) found.push(`a bare < in ${rest}`);
  return found;
}

/** Attempts from public collections, and ones made for this renderer. */
const attempts: readonly string[] = [
  '<script>alert(1)</script>',
  '<SCRIPT SRC=//evil.example/x.js></SCRIPT>',
  '<script\n>alert(1)</script\n>',
  '<scr<script>ipt>alert(1)</scr</script>ipt>',
  '<<script>script>alert(1)<</script>/script>',
  '<script/xss src="x">',
  '<img src=x onerror=alert(1)>',
  '<img src=x onerror="alert(1)"//',
  '<img """><script>alert(1)</script>">',
  '<img src="javascript:alert(1)">',
  '<img src=`javascript:alert(1)`>',
  '<img src="jav&#x09;ascript:alert(1);">',
  '<img src="data:text/html;base64,PHNjcmlwdD4=">',
  '<img src="data:image/svg+xml,<svg onload=alert(1)>">',
  '<img dynsrc="javascript:alert(1)" lowsrc="javascript:alert(1)">',
  '<img srcset="x 1x, javascript:alert(1) 2x">',
  '<svg onload=alert(1)>',
  '<svg><script>alert(1)</script></svg>',
  '<svg><a xlink:href="javascript:alert(1)"><text y="9">x</text></a></svg>',
  '<svg><animate attributeName=href values=javascript:alert(1) /></svg>',
  '<math><mi xlink:href="javascript:alert(1)">x</mi></math>',
  '<math><mtext><table><mglyph><style><!--</style><img title="--&gt;&lt;img src=1 onerror=alert(1)&gt;">',
  '<noscript><p title="</noscript><img src=x onerror=alert(1)>">',
  '<template><img src=x onerror=alert(1)></template>',
  '<iframe src="javascript:alert(1)"></iframe>',
  '<iframe srcdoc="<script>alert(1)</script>"></iframe>',
  '<object data="javascript:alert(1)"></object>',
  '<embed src="javascript:alert(1)">',
  '<applet code="x"></applet>',
  '<link rel="stylesheet" href="javascript:alert(1)">',
  '<meta http-equiv="refresh" content="0;url=javascript:alert(1)">',
  '<base href="javascript:alert(1)//">',
  '<body onload=alert(1)>',
  '<form action="javascript:alert(1)"><input type=submit></form>',
  '<button formaction="javascript:alert(1)">x</button>',
  '<input onfocus=alert(1) autofocus>',
  '<textarea autofocus onfocus=alert(1)></textarea>',
  '<select onchange=alert(1)><option>1</select>',
  '<video><source onerror="alert(1)"></video>',
  '<audio src=x onerror=alert(1)>',
  '<details open ontoggle=alert(1)>',
  '<marquee onstart=alert(1)>',
  '<div style="background:url(javascript:alert(1))">x</div>',
  '<div style="width:expression(alert(1))">x</div>',
  '<style>@import "javascript:alert(1)";</style>',
  '<p id="location" name="cookie">clobber</p>',
  '<a id=x><a id=x name=y href="cid:alert(1)">',
  '<div data-controller="evil" data-remote="true">x</div>',
  '<a href="javascript:alert(1)">x</a>',
  '<a href="JaVaScRiPt:alert(1)">x</a>',
  '<a href=" &#14;  javascript:alert(1);">x</a>',
  '<a href="java\nscript:alert(1)">x</a>',
  '<a href="javascript&colon;alert(1)">x</a>',
  '<a href="&#106;&#97;&#118;&#97;&#115;&#99;&#114;&#105;&#112;&#116;&#58;alert(1)">x</a>',
  '<a href="vbscript:msgbox(1)">x</a>',
  '<a href="data:text/html,<script>alert(1)</script>">x</a>',
  '<a href="//evil.example">x</a>',
  '<a href="x" onclick="alert(1)">x</a>',
  '<a href="x"onmouseover="alert(1)">x</a>',
  '<a href="x" target="_top" ping="https://evil.example">x</a>',
  '<a/href="javascript:alert(1)">x</a>',
  '[x](javascript:alert(1))',
  '[x](JAVASCRIPT:alert(1))',
  '[x](javascript&colon;alert(1))',
  '[x](&#x6A;avascript:alert(1))',
  '[x](java%0ascript:alert(1))',
  '[x](data:text/html;base64,PHNjcmlwdD4=)',
  '[x](vbscript:alert(1))',
  '[x](<javascript:alert(1)>)',
  '[x](https://a.example "onmouseover=alert(1) \\"><script>alert(1)</script>")',
  '[x]: javascript:alert(1)\n\n[x]',
  '<javascript:alert(1)>',
  '![x](javascript:alert(1))',
  '![x](data:image/svg+xml;base64,PHN2Zz4=)',
  '![x" onerror="alert(1)](https://a.example/x.png)',
  '![<script>alert(1)</script>](x)',
  '```"><script>alert(1)</script>\nx\n```',
  '```js" onmouseover="alert(1)\nx\n```',
  '`<script>alert(1)</script>`',
  '    <script>alert(1)</script>',
  '|<script>alert(1)</script>|\n|-|\n|<img src=x onerror=alert(1)>|',
  '| a |\n|:-:" onclick="alert(1)|\n| x |',
  '# <script>alert(1)</script>',
  '# "onmouseover=alert(1) x="',
  `# ' onmouseover=alert(1) x='`,
  '# &quot;&gt;&lt;script&gt;alert(1)&lt;/script&gt;',
  '# `"><img src=x onerror=alert(1)>`',
  '<h1 id="location" data-sourcepos="x" onclick=alert(1)>x</h1>',
  '<h2 id="user-content-x onclick=alert(1)">x</h2>',
  '<h2 id="user-content-&quot; onclick=alert(1)">x</h2>',
  '<p data-sourcepos="1:1-1:1 onclick=alert(1)">x</p>',
  '<a class="anchor" id="user-content-x" aria-label="x" href="x">x</a>',
  '> <script>alert(1)</script>',
  '- [x]<script>alert(1)</script>',
  '- [ ] <img src=x onerror=alert(1)>',
  '<!-- --><script>alert(1)</script><!-- -->',
  '<!--><img src=x onerror=alert(1)>-->',
  '<![CDATA[<script>alert(1)</script>]]>',
  '<?xml version="1.0"?><script>alert(1)</script>',
  '<!DOCTYPE html [<!ENTITY x "<script>alert(1)</script>">]>&x;',
  // A mark inside an attribute must not become a link.
  '<div title="\n\n#1 onmouseover=alert(1) x="\n\n">x</div>',
  '<a title="\n\n@user\n\n" href="x">',
  '<abbr title="\n\n:tada:\n\n">x</abbr>',
  '<img alt="\n\n~"label"\n\n" src="x">',
  '\u0002deadbeef:0\u0003 #1',
  '&#2;deadbeef:0&#3; #1',
  '~"<img src=x onerror=alert(1)>"',
  '%"\\"><script>alert(1)</script>"',
  '@user<script>alert(1)</script>',
  'https://here.example/g/p/-/issues/1"><script>alert(1)</script>',
  'https://a.example/"onmouseover="alert(1)',
  ':tada" onclick="alert(1):',
  '<gl-emoji data-name="x" onclick=alert(1)>x</gl-emoji>',
  '/uploads/0123456789abcdef0123456789abcdef/"><script>alert(1)</script>',
  '![x](/uploads/0123456789abcdef0123456789abcdef/%22onerror=alert(1).png)',
];

describe('attempts at cross-site scripting', () => {
  test('there are enough of them', () => {
    expect(new Set(attempts).size).toBeGreaterThanOrEqual(60);
  });
  test.each(attempts)('%s', (attempt) => {
    expect(problems(render(attempt))).toEqual([]);
    expect(problems(render(attempt, { ...dialect, gfm: false }))).toEqual([]);
    expect(problems(render(`text *around* ${attempt} #1 text`))).toEqual([]);
    expect(problems(render(attempt, { ...dialect, line: true }))).toEqual([]);
  });
  test('the reader of the answers finds what is wrong', () => {
    for (const html of [
      '<script>',
      '<p onclick="x">',
      '<a href="javascript:x">',
      '<a href="//x">',
      '< b',
      '<p title="<a">',
      '<h1 id="x">',
      '<p data-sourcepos="x">',
      '<a class="x">',
    ])
      expect(problems(html)).not.toEqual([]);
  });
});

const cases: readonly (readonly [source: string, html: string])[] = [
  ['*a* **b** ~~c~~', '<p dir="auto"><em>a</em> <strong>b</strong> <s>c</s></p>'],
  [
    '# Title',
    `<h1 id="user-content-title" dir="auto">Title<a href="#title" aria-label="Link to heading 'Title'" data-heading-content="Title" class="anchor"></a></h1>`,
  ],
  ['a < b & c', '<p dir="auto">a &lt; b &amp; c</p>'],
  ['```ruby\nx\n```', '<pre><code class="language-ruby">x\n</code></pre>'],
  [
    ':tada:',
    '<p dir="auto"><gl-emoji title="party popper" data-name="tada" data-unicode-version="6.0">🎉</gl-emoji></p>',
  ],
  [':no_such_thing:', '<p dir="auto">:no_such_thing:</p>'],
  ['`:tada:`', '<p dir="auto"><code>:tada:</code></p>'],
  ['[#1](x)', '<p dir="auto"><a href="x" rel="nofollow noreferrer noopener">#1</a></p>'],
  ['<b>#1</b>', '<p dir="auto"><b><a href="/found" title="&quot;">#1</a></b></p>'],
  ['<a href="https://here.example/x">#1</a>', '<p dir="auto"><a href="https://here.example/x">#1</a></p>'],
  [
    'https://a.example',
    '<p dir="auto"><a href="https://a.example" rel="nofollow noreferrer noopener">https://a.example</a></p>',
  ],
  ['file.md and a@b.example', '<p dir="auto">file.md and a@b.example</p>'],
  [
    '![x](/uploads/0123456789abcdef0123456789abcdef/x.png)',
    '<p dir="auto"><img alt="x" src="https://here.example/-/project/7/uploads/0123456789abcdef0123456789abcdef/x.png" /></p>',
  ],
  [
    '|a|b|\n|:-|-:|\n|1|2|',
    '<table dir="auto">\n<thead>\n<tr>\n<th align="left">a</th>\n<th align="right">b</th>\n</tr>\n</thead>\n<tbody>\n<tr>\n<td align="left">1</td>\n<td align="right">2</td>\n</tr>\n</tbody>\n</table>',
  ],
  [
    '- [ ] a\n- [x] b',
    '<ul dir="auto" class="task-list">\n<li class="task-list-item"><input type="checkbox" class="task-list-item-checkbox" disabled> a</li>\n' +
      '<li class="task-list-item"><input type="checkbox" class="task-list-item-checkbox" disabled checked> b</li>\n</ul>',
  ],
  ['- [a] b', '<ul dir="auto">\n<li>[a] b</li>\n</ul>'],
];

const withoutPositions = (html: string): string => html.replaceAll(/ data-sourcepos="[\d:-]+"/g, '');

test.each(cases)('%s', (source, html) => {
  expect(withoutPositions(render(source))).toBe(html);
});

test('plain Markdown knows no references, emoji, tasks or anchors', () => {
  const plain = { ...dialect, gfm: false };
  const shown = (source: string) => withoutPositions(render(source, plain));
  expect(shown('#1 :tada: @user')).toBe('<p dir="auto">#1 :tada: @user</p>');
  expect(shown('- [ ] a')).toBe('<ul dir="auto">\n<li>[ ] a</li>\n</ul>');
  expect(shown('# a')).toBe('<h1 dir="auto">a</h1>');
});

describe('where blocks were written', () => {
  /** The elements of the text with the text of their positions, in their order. */
  const positions = (source: string) =>
    [...render(source).matchAll(/<([a-z\d]+)[^<>]* data-sourcepos="([^"]+)"/g)].map(
      ([, name, position]) => `${name} ${position}`,
    );
  test.each<[string, string[]]>([
    ['Some plan content', ['p 1:1-1:17']],
    ['Noël', ['p 1:1-1:5']],
    ['\n\n  a\nb \n\nc', ['p 3:3-4:2', 'p 6:1-6:1']],
    ['a\r\nb\r\n', ['p 1:1-2:1']],
    ['# Title\n\nTitle\n===', ['h1 1:1-1:7', 'h1 3:1-4:3']],
    ['```ts\nx\n```\n\n    code\n\nx', ['pre 1:1-3:3', 'pre 5:5-5:8', 'p 7:1-7:1']],
    ['---', ['hr 1:1-1:3']],
    ['- a\n- b\n\n\nc', ['ul 1:1-2:3', 'li 1:1-1:3', 'li 2:1-2:3', 'p 5:1-5:1']],
    ['- a\n\n- b', ['ul 1:1-3:3', 'li 1:1-1:3', 'p 1:3-1:3', 'li 3:1-3:3', 'p 3:3-3:3']],
    [
      '10. a\n    - é\n      - c',
      ['ol 1:1-3:9', 'li 1:1-3:9', 'ul 2:5-3:9', 'li 2:5-3:9', 'ul 3:7-3:9', 'li 3:7-3:9'],
    ],
    ['- - a', ['ul 1:1-1:5', 'li 1:1-1:5', 'ul 1:3-1:5', 'li 1:3-1:5']],
    ['-\n-   \n* [a]: x', ['ul 1:1-2:4', 'li 1:1-1:1', 'li 2:1-2:4', 'ul 3:1-3:8', 'li 3:1-3:8']],
    ['> a\n> - b\n>\n\nc', ['blockquote 1:1-3:1', 'p 1:3-1:3', 'ul 2:3-2:5', 'li 2:3-2:5', 'p 5:1-5:1']],
    ['é\n> > b\nlazy', ['p 1:1-1:2', 'blockquote 2:1-3:4', 'blockquote 2:3-3:4', 'p 2:5-3:4']],
    ['[a]: x\n|a|\n|-|\n|b|\n\nc', ['table 2:1-4:3', 'p 6:1-6:1']],
    ['<div>\n\n*a*\n\n</div>', ['p 3:1-3:3']],
  ])('%j', (source, expected) => {
    expect(positions(source)).toEqual(expected);
  });
  test('are not told of one line, and a text cannot say them otherwise', () => {
    expect(render('a', { ...dialect, line: true })).toBe('a');
    expect(render('<div data-sourcepos="1:1-x">a</div>')).toBe('<div>a</div>');
  });
});

describe('anchors of headings', () => {
  const anchors = (source: string) =>
    [...render(source).matchAll(/<h\d[^<>]* id="user-content-([^"]*)"[^<>]*>.*?<a href="#([^"]*)"/g)].map(
      ([, id, href]) => [id, href],
    );
  const both = (anchor: string) => [anchor, anchor];
  test.each<[string, string[]]>([
    ["# What's *new*, `v1.2`?", ['whats-new-v12']],
    ['# a  - -- b_c', ['a-b_c']],
    ['# Größe 日本語', ['größe-日本語']],
    ['# 42', ['anchor-42']],
    ['# :tada: @user #1', ['tada-user-1']],
    ['# a\n## a\n### a-1\n# a', ['a', 'a-1', 'a-1-1', 'a-2']],
    ['# <b>x</b> [y](z)', ['x-y']],
    ['# !?\n\n#', []],
    ['<h1>x</h1>', []],
  ])('%j', (source, expected) => {
    expect(anchors(source)).toEqual(expected.map(both));
  });
});

test.each([
  [':coffee:', '<gl-emoji title="hot beverage" data-name="coffee" data-unicode-version="4.0">☕</gl-emoji>'],
  [':rainbow_flag:', 'data-unicode-version="7.0"'],
  [':shaking_face:', 'data-unicode-version="15.0"'],
  [':de:', 'data-unicode-version="6.0"'],
  [':one:', 'data-unicode-version="3.0"'],
  [':+1:', 'data-name="+1"'],
])('%s', (source, part) => {
  expect(render(source)).toContain(part);
});

test.each([':constructor:', ':__proto__:', ':toString:'])('%s is no emoji', (source) => {
  expect(render(source)).not.toContain('gl-emoji');
});

test('so many references are looked for, and no more', () => {
  const { fragments, texts } = renderDocument('#1 '.repeat(6_000), dialect);
  expect(fragments).toHaveLength(5_000);
  expect(texts.at(-1)).toContain('#1 #1');
});

describe('a text of which much more would be made than was written stays as it was', () => {
  test.each([
    ['rows that are filled up', `${'|a'.repeat(150)}\n${'|-'.repeat(150)}\n${'|\n'.repeat(690)}`],
    ['an address that is named again and again', `[a]: /${'u'.repeat(20_000)}\n\n${'[a] '.repeat(25_000)}`],
    ['a title in pictures', `[a]: /b '${'t'.repeat(4_000)}'\n\n${'![a] '.repeat(800)}`],
  ])('%s', (_, text) => {
    expect(render(text)).toBe(`<pre dir="auto">${escapeText(text)}</pre>`);
  });

  test.each([
    ['a table', `|a|b|c|\n|-|-|-|\n${'|1|2|3|\n'.repeat(500)}`, '<td>3</td>'],
    ['a list', '- a\n'.repeat(500), '<li>a</li>'],
    [
      'addresses',
      `[a]: https://a.example/${'u'.repeat(100)}\n\n${'[a] '.repeat(50)}`,
      '<a href="https://a.example',
    ],
  ])('but not %s of ordinary size', (_, text, part) => {
    expect(withoutPositions(render(text))).toContain(part);
  });
});
