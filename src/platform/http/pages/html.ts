/** Pages: a tagged template that escapes its values, and the layout of all pages. */
import type { HttpResponse } from '../messages.ts';

/** Safe HTML, which only html`…` and madeSafe() create. */
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

/** HTML with escaped values; null, undefined and false are empty, lists are joined. Quote attributes. */
export const html = (strings: TemplateStringsArray, ...values: HtmlValue[]): Html =>
  new Html(strings.map((text, index) => text + render(values[index])).join(''));

/** HTML that is safe already, such as domain/markdown's; never a user's text. */
export const madeSafe = (text: string): Html => new Html(text);

/** What a document has besides its page. */
export type PageParts = {
  /** The name of the site, behind the title. */
  site?: string;
  /** Above the page, and below it. */
  header?: Html;
  footer?: Html | undefined;
  /** For scripts of this origin. */
  csrfToken?: string | undefined;
  /** Addresses on this site: a picture, the description for programs that install pages, a further stylesheet. */
  icon?: string | undefined;
  manifest?: string | undefined;
  style?: string | undefined;
};

/** A whole document. */
export const htmlPage = (title: string, body: Html, parts: PageParts = {}): string =>
  `<!doctype html>\n${render(html`<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${title} · ${parts.site ?? 'Ashlar'}</title>
${parts.csrfToken !== undefined && html`<meta name="csrf-token" content="${parts.csrfToken}">`}
<link rel="stylesheet" href="/-/style.css">
${parts.style !== undefined && html`<link rel="stylesheet" href="${parts.style}">`}
<link rel="icon" href="${parts.icon ?? 'data:,'}">
${parts.manifest !== undefined && html`<link rel="manifest" href="${parts.manifest}">`}
</head>
<body>
${parts.header}
<main>
${body}
</main>
${parts.footer}
</body>
</html>`)}\n`;

/** The content security policy of a page: further targets of its forms, and sites that may frame it. */
export const pagePolicy = ({
  formsTo = '',
  frames = "'self'",
}: {
  formsTo?: string;
  frames?: string;
} = {}): string =>
  `default-src 'none'; style-src 'self'; img-src 'self' data:; manifest-src 'self'; form-action 'self'${formsTo && ` ${formsTo}`}; frame-ancestors ${frames}; base-uri 'none'`;

/** A document with `no-store`: pages show the signed-in user. */
export const htmlResponse = (
  status: number,
  document: string,
  headers: Record<string, string> = {},
): HttpResponse => ({
  status,
  headers: { 'content-type': 'text/html; charset=utf-8', 'cache-control': 'no-store', ...headers },
  body: document,
});

/** The items separated by commas. */
export const between = (items: readonly Html[]): Html[] =>
  items.map((item, index) => (index === 0 ? item : html`, ${item}`));
