import { describe, expect, test } from 'vitest';
import { renderDocument } from '../../markdown/engine.ts';
import { cutBody, dressBody, plainBody } from './bodies.ts';

const PAGE = 'https://site.example/a/b/-/issues/1';
const dressed = (html: string): string => dressBody(html, PAGE).text;

describe('links', () => {
  test.each([
    ['/a/b', 'https://site.example/a/b'],
    ['/a?x=1&amp;y=2', 'https://site.example/a?x=1&amp;y=2'],
    ['#note_3', `${PAGE}#note_3`],
    ['2', 'https://site.example/a/b/-/issues/2'],
    ['//else.example/x', 'https://else.example/x'],
    ['https://else.example/?a&amp;b', 'https://else.example/?a&amp;b'],
    ['mailto:ada@site.example', 'mailto:ada@site.example'],
    ['/&quot; onclick=&quot;x', 'https://site.example/%22%20onclick=%22x'],
    ['http://[', 'http://['],
  ])('%s leads to %s', (from, to) => {
    expect(dressed(`<a href="${from}">x</a>`)).toBe(`<a href="${to}">x</a>`);
  });

  test('text that looks like an attribute stays text', () => {
    expect(dressed('<q>href="/x" &lt;a href="/y"&gt;</q>')).toBe('<q>href="/x" &lt;a href="/y"&gt;</q>');
  });

  test('what the renderer makes has no relative links and no boxes', () => {
    const source =
      '# Title\n\n[x](/a) [y](#b) [z](c) ![i](d.png)\n\n- [x] done\n- [ ] not\n\n| a |\n|--:|\n| `1` |\n\n> q :tada:';
    const { texts, fragments } = renderDocument(source, { gfm: true, baseUrl: 'https://site.example' });
    const rendered = texts
      .map((text, index) => {
        const fragment = fragments[index];
        return text + (fragment && 'html' in fragment ? fragment.html : '');
      })
      .join('');
    const html = dressed(rendered);
    const links = [...html.matchAll(/(?:href|src)="([^"]*)"/g)].map(([, link]) => link);
    expect(links).toEqual([
      'https://site.example/a',
      `${PAGE}#b`,
      'https://site.example/a/b/-/issues/c',
      'https://site.example/a/b/-/issues/d.png',
    ]);
    expect(html).toMatch(/<h1 dir="auto" style="[^"]+">Title<\/h1>/);
    expect(html).toMatch(/☑ done[^☐]*☐ not/);
    expect(html).not.toMatch(/<input|gl-emoji/);
    expect(html).toContain('🎉');
    expect(html).toMatch(/<th align="right" style="[^"]+">/);
    expect(html).toMatch(/<blockquote dir="auto" style="[^"]+">/);
  });
});

describe('looks', () => {
  test.each([
    ['#d9534f', '#FFFFFF'],
    ['#ffee88', '#1F1E24'],
  ])('a label on %s is written in %s', (color, ink) => {
    const html = dressed(
      `<a href="/l" class="gfm gfm-label gl-label-link"><span class="gl-label-text" style="background-color: ${color}">bug</span></a>`,
    );
    expect(html).toContain(`background-color: ${color}; color: ${ink}"`);
    expect(html.match(/style=/g)).toHaveLength(2);
  });

  test('elements keep what they say of themselves', () => {
    expect(dressed('<td align="right" colspan="2">x</td>')).toMatch(
      /^<td align="right" colspan="2" style="[^"]+">x<\/td>$/,
    );
    expect(dressed('<strong>x</strong><br />')).toBe('<strong>x</strong><br>');
  });
});

describe('the text part', () => {
  test.each([
    ['a\r\nb\rc', 'a\nb\nc'],
    ['  a\n\n', 'a'],
    ['a\n-- \nUnsubscribe: https://evil.example', 'a\n–\nUnsubscribe: https://evil.example'],
    ['a\u0000\u0007b\tc', 'ab\tc'],
    ['\u202egpj.exe', 'gpj.exe'],
  ])('%j becomes %j', (from, to) => {
    expect(plainBody(from)).toBe(to);
  });

  test('a long text is cut where a line ends', () => {
    const text = `${'x'.repeat(15_000)}\n${'y'.repeat(15_000)}`;
    expect(cutBody(text)).toEqual({ text: 'x'.repeat(15_000), cut: true });
    expect(cutBody('z'.repeat(30_000))).toEqual({ text: 'z'.repeat(20_000), cut: true });
    expect(cutBody(`${'z'.repeat(19_999)}😀z`).text.isWellFormed()).toBe(true);
    expect(cutBody('short')).toEqual({ text: 'short', cut: false });
  });
});
