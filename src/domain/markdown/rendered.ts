/** Rendered texts, and the fallback for texts that cannot be rendered. */
import type { Reference } from './references.ts';

/** Finished HTML, or a reference to resolve. */
export type Fragment = { html: string } | { reference: Reference };

/** HTML split at the fragments: `texts[0] fragments[0] texts[1] …`. */
export type Rendered = { texts: string[]; fragments: Fragment[] };

const entities: Record<string, string> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

/** Escapes text for HTML, quoted attributes included. */
export const escapeText = (text: string): string =>
  text.replace(/[&<>"']/g, (character) => entities[character] ?? '');

/** The fallback: the escaped text. */
export const asWritten = (text: string): Rendered => ({
  texts: [`<pre dir="auto">${escapeText(text)}</pre>`],
  fragments: [],
});
