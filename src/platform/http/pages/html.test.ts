import { describe, expect, test } from 'vitest';
import { type HtmlValue, html, htmlPage } from './html.ts';

describe('html', () => {
  test.each<[string, HtmlValue, string]>([
    ['text is escaped', `<b a="1" c='2'>&`, '&lt;b a=&quot;1&quot; c=&#39;2&#39;&gt;&amp;'],
    ['what is escaped once is escaped again', '&amp;', '&amp;amp;'],
    ['HTML goes in as it is', html`<i>${'<'}</i>`, '<i>&lt;</i>'],
    ['numbers', 0, '0'],
    ['nothing', [null, undefined, false], ''],
    ['lists are joined, each by its own kind', ['<', html`<br>`, 1], '&lt;<br>1'],
  ])('%s', (_case, value, expected) => {
    expect(html`[${value}]`.text).toBe(`[${expected}]`);
  });

  test('a page escapes its title and its token', () => {
    const page = htmlPage('<script>', html`<p>x</p>`, { csrfToken: '">' });
    expect(page).toContain('<title>&lt;script&gt; · Ashlar</title>');
    expect(page).toContain('<meta name="csrf-token" content="&quot;&gt;">');
    expect(page).toContain('<p>x</p>');
  });
});
