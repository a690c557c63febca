/** Renders descriptions for records, with a cache: without references, as all readers get the same HTML. */
import { createRequire } from 'node:module';
import { extname } from 'node:path';
import { digest } from '../../platform/secret.ts';
import type * as Engine from './engine.ts';
import { escapeText } from './rendered.ts';

const kept = new Map<string, string>();
const MAX_CACHED = 1_000;
/** Characters; a longer text is only escaped, since lists have many. */
const MAX_CACHED_LENGTH = 8_192;

/** One paragraph that no dialect changes. */
const plain = /^\p{L}[\p{L}\p{N} ,;?()]*(?:\.(?=[\p{L} ]|$)[\p{L}\p{N} ,;?()]*)*$/u;

const load = createRequire(import.meta.url);
let engine: typeof Engine | undefined;

/** Loaded with the first text that needs it, which keeps the program's start fast. */
function render(text: string): string {
  // require() is untyped; the file is the type's own.
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

/**
 * The description of a project as safe HTML; empty for none. Most are plain text, and cost almost nothing.
 */
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
