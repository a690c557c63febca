/** Users' texts in mails: absolute links, inline styles, and a bounded length. Pure. */
import { LINE } from '../../../kernel/mail/mail-page.ts';
import { type Html, madeSafe } from '../../../platform/http/pages/html.ts';
import { textColor } from '../../planning/index.ts';

/** Characters. Mail programs fold longer texts; a link leads to the rest. */
const MAX_BODY_LENGTH = 20_000;

/** The part of a text that a mail shows, to be rendered by the caller. */
export function cutBody(text: string): { text: string; cut: boolean } {
  if (text.length <= MAX_BODY_LENGTH) return { text, cut: false };
  const end = text.lastIndexOf('\n', MAX_BODY_LENGTH);
  return { text: text.slice(0, end > MAX_BODY_LENGTH / 2 ? end : MAX_BODY_LENGTH).toWellFormed(), cut: true };
}

/** Removes control and bidi characters, and lines that look like a signature's delimiter. */
export const plainBody = (text: string): string =>
  text
    .replaceAll(/\r\n?/g, '\n')
    .replaceAll(/[^\P{Cc}\n\t]|[\u202a-\u202e\u2066-\u2069]/gu, '')
    .replaceAll(/^-- *$/gm, '\u2013')
    .trim();

const block = 'margin: 0 0 16px';
const mono = 'font-family: ui-monospace, Menlo, Consolas, monospace';

const styles: Record<string, string> = {
  p: block,
  ul: `${block}; padding-left: 24px`,
  ol: `${block}; padding-left: 24px`,
  h1: 'margin: 24px 0 12px; font-size: 22px; line-height: 1.3',
  h2: 'margin: 24px 0 12px; font-size: 20px; line-height: 1.3',
  h3: 'margin: 20px 0 10px; font-size: 18px; line-height: 1.3',
  h4: 'margin: 20px 0 10px; font-size: 16px',
  h5: 'margin: 20px 0 10px; font-size: 16px',
  h6: 'margin: 20px 0 10px; font-size: 16px',
  pre: `${block}; padding: 12px; border: 1px solid ${LINE}; border-radius: 6px; font-size: 14px; white-space: pre-wrap; overflow-wrap: anywhere`,
  code: mono,
  kbd: `${mono}; padding: 1px 5px; border: 1px solid ${LINE}; border-radius: 4px`,
  blockquote: `${block}; padding: 0 0 0 12px; border-left: 3px solid ${LINE}`,
  table: `${block}; border-collapse: collapse`,
  th: `padding: 6px 10px; border: 1px solid ${LINE}`,
  td: `padding: 6px 10px; border: 1px solid ${LINE}`,
  img: 'max-width: 100%; height: auto',
  hr: `margin: 24px 0; border: 0; border-top: 1px solid ${LINE}`,
};

/** A tag of sanitised HTML, where each value is quoted and each `<` of a text escaped. */
const tag = /<(\/?)([a-z][a-z0-9-]*)((?:\s+[^\s=>"/]+(?:="[^"]*")?)*)\s*\/?>/gi;
const address = /(\s(?:href|src)=")([^"]*)"/g;
const absolute = /^[a-z][a-z0-9+.-]*:/i;

const entities: Record<string, string> = {
  '&amp;': '&',
  '&quot;': '"',
  '&#39;': "'",
  '&lt;': '<',
  '&gt;': '>',
};
const decoded = (value: string): string =>
  value.replaceAll(/&(?:amp|quot|#39|lt|gt);/g, (entity) => entities[entity] ?? entity);

function resolve(value: string, base: string): string {
  if (absolute.test(value)) return value;
  const url = URL.parse(decoded(value), base);
  // These two would end the attribute or begin an entity.
  return url === null ? '' : url.href.replaceAll('&', '&amp;').replaceAll('"', '%22');
}

/** The style that domain/markdown gives to labels; the sanitiser removes it from users' texts. */
const labelColor = /\sstyle="background-color: (#[\da-f]{6})"/i;

/** Source positions are of no use in a mail. */
const place = /\sdata-sourcepos="[^"]*"/;
/** Neither are links to headings. */
const anchor = /<a [^<>]*class="anchor"><\/a>|(?<=<h[1-6][^<>]*) id="[^"]*"/g;

function styleOf(name: string, attributes: string): string | undefined {
  const [, color] = labelColor.exec(attributes) ?? [];
  if (color !== undefined)
    return `display: inline-block; padding: 0 8px; border-radius: 10px; font-size: 14px; background-color: ${color}; color: ${textColor(color)}`;
  if (name === 'a') return attributes.includes(' gl-label-link"') ? 'text-decoration: none' : undefined;
  if (attributes.includes('class="task-list"')) return `${styles[name]}; list-style: none`;
  return styles[name];
}

function dressTag(name: string, attributes: string, base: string): string {
  if (name === 'input') return attributes.includes(' checked') ? '\u2611' : '\u2610';
  if (name === 'gl-emoji') return '';
  const resolved = attributes
    .replace(labelColor, '')
    .replace(place, '')
    .replaceAll(address, (_, before: string, value: string) => `${before}${resolve(value, base)}"`);
  const style = styleOf(name, attributes);
  return `<${name}${resolved}${style === undefined ? '' : ` style="${style}"`}>`;
}

/** Rendered Markdown for a mail; relative links are resolved against `base`, the subject's page. */
export const dressBody = (rendered: string, base: string): Html =>
  madeSafe(
    rendered
      .replaceAll(anchor, '')
      .replaceAll(tag, (_, closing: string, name: string, attributes: string) => {
        const small = name.toLowerCase();
        if (closing !== '') return small === 'gl-emoji' ? '' : `</${small}>`;
        return dressTag(small, attributes, base);
      }),
  );
