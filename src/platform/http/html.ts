/** Pages: a tagged template that escapes what it is given, and the frame that every page has. */
import type { HttpResponse } from './messages.ts';

/** Text that is HTML already: only html`…` and madeSafe() make it. */
export class Html {
  readonly text: string;
  constructor(text: string) {
    this.text = text;
  }
}

export type HtmlValue = Html | string | number | null | undefined | false | readonly HtmlValue[];

const entities: Record<string, string> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

const escapeHtml = (text: string): string =>
  text.replaceAll(/[&<>"']/g, (character) => entities[character] ?? '');

function render(value: HtmlValue): string {
  if (value instanceof Html) return value.text;
  if (value === null || value === undefined || value === false) return '';
  if (typeof value === 'string') return escapeHtml(value);
  if (typeof value === 'number') return String(value);
  return value.map(render).join('');
}

/** HTML with the values escaped; null, undefined and false are nothing, lists are joined. Quote attributes. */
export const html = (strings: TemplateStringsArray, ...values: HtmlValue[]): Html =>
  new Html(strings.map((text, index) => text + render(values[index])).join(''));

/** HTML from elsewhere that cannot do harm: what core/markdown made, and nothing that somebody sent. */
export const madeSafe = (text: string): Html => new Html(text);

/** A whole document. `header` stands above the page; `csrfToken` is where scripts of this origin look for it. */
export const htmlPage = (
  title: string,
  body: Html,
  parts: { header?: Html; csrfToken?: string } = {},
): string =>
  `<!doctype html>\n${render(html`<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${title} · Ashlar</title>
${parts.csrfToken !== undefined && html`<meta name="csrf-token" content="${parts.csrfToken}">`}
<link rel="stylesheet" href="/-/style.css">
<link rel="icon" href="data:,">
</head>
<body>
${parts.header}
<main>
${body}
</main>
</body>
</html>`)}\n`;

/** The content security policy of a page: where its forms may lead beside this site, and which sites may frame it. */
export const pagePolicy = ({
  formsTo = '',
  frames = "'self'",
}: {
  formsTo?: string;
  frames?: string;
} = {}): string =>
  `default-src 'none'; style-src 'self'; img-src 'self' data:; form-action 'self'${formsTo && ` ${formsTo}`}; frame-ancestors ${frames}; base-uri 'none'`;

/** A document as an answer that nothing keeps: pages show who is signed in. */
export const htmlResponse = (
  status: number,
  document: string,
  headers: Record<string, string> = {},
): HttpResponse => ({
  status,
  headers: { 'content-type': 'text/html; charset=utf-8', 'cache-control': 'no-store', ...headers },
  body: document,
});

/** With a comma between each two. */
export const between = (items: readonly Html[]): Html[] =>
  items.map((item, index) => (index === 0 ? item : html`, ${item}`));
