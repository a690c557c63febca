/** Descriptions as HTML for records: no references, since a record is made for whoever reads it; what was made is kept for a while. */
import { createRequire } from 'node:module';
import { extname } from 'node:path';
import { digest } from '../../platform/secret.ts';
import type * as Engine from './engine.ts';
import { escapeText } from './rendered.ts';

const kept = new Map<string, string>();
const MAX_CACHED = 1_000;
/** Characters; what is longer is shown as it was written: many stand in one list. */
const MAX_CACHED_LENGTH = 8_192;

/** One paragraph of what no dialect reads as anything else. */
const plain = /^\p{L}[\p{L}\p{N} ,;?()]*(?:\.(?=[\p{L} ]|$)[\p{L}\p{N} ,;?()]*)*$/u;

const load = createRequire(import.meta.url);
let engine: typeof Engine | undefined;

/** Loaded with the first text that needs it: the start of the program, and programs without such texts, go without. */
function render(text: string): string {
  // What require() gives is untyped; the file is the one that the type is of.
  engine ??= load(`./engine${extname(import.meta.url)}`) as typeof Engine;
  const { texts, fragments } = engine.renderDocument(text, { gfm: true, baseUrl: '' });
  return texts
    .map((piece, index) => {
      const fragment = fragments[index];
      if (!fragment) return piece;
      return piece + ('html' in fragment ? fragment.html : escapeText(fragment.reference.text));
    })
    .join('')
    .trim();
}

/** The description of a project as safe HTML; empty for none. Most are plain text, which costs next to nothing. */
export function renderDescription(text: string | null): string {
  if (text === null || text === '') return '';
  if (text.length > MAX_CACHED_LENGTH) return `<p dir="auto">${escapeText(text)}</p>`;
  if (plain.test(text))
    return `<p data-sourcepos="1:1-1:${Buffer.byteLength(text)}" dir="auto">${escapeText(text)}</p>`;
  const key = text.length <= 64 ? text : digest(text).toString('base64');
  const known = kept.get(key);
  if (known !== undefined) return known;
  const html = render(text);
  if (kept.size >= MAX_CACHED) kept.clear();
  kept.set(key, html);
  return html;
}
