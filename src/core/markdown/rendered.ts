/** What a rendered text is, and one that could not be rendered: as it was written. */
import type { Reference } from './references.ts';

/** HTML that is done, or a reference that somebody has to look for. */
export type Fragment = { html: string } | { reference: Reference };

/** HTML cut where a fragment belongs: `texts[0] fragments[0] texts[1] …`. */
export type Rendered = { texts: string[]; fragments: Fragment[] };

const entities: Record<string, string> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

/** Text as it stands in HTML, inside quoted attributes too. */
export const escapeText = (text: string): string =>
  text.replace(/[&<>"']/g, (character) => entities[character] ?? '');

/** What is shown of a text that cannot be rendered. */
export const asWritten = (text: string): Rendered => ({
  texts: [`<pre dir="auto">${escapeText(text)}</pre>`],
  fragments: [],
});
