/** Renders Markdown for a reader: sanitised, with links for the references that the reader may see. */
import { setImmediate as nextTurn } from 'node:timers/promises';
import { MAX_SEARCHED } from '../../platform/patterns/pattern.ts';
import type { Dialect } from './engine.ts';
import { scanReferences } from './references.ts';
import type { RenderContext } from './render-context.ts';
import { escapeText, type Rendered } from './rendered.ts';
import { renderSource } from './rendering.ts';
import { resolveReferences } from './resolve.ts';
import { readTrackerNames, scannerOf } from './tracker-names.ts';

/** Characters of a cached text, and number of them: a text mailed to many is rendered once. */
const MAX_CACHED_LENGTH = 32_768;
const MAX_CACHED = 8;
const kept = new Map<string, Rendered>();

/** renderSource() with a cache of the latest short texts, as its result depends on no reader. */
async function renderOnce(text: string, dialect: Dialect): Promise<Rendered> {
  if (text.length > MAX_CACHED_LENGTH) return renderSource(text, dialect);
  const key = JSON.stringify([dialect, text]);
  const known = kept.get(key);
  if (known) return known;
  const rendered = await renderSource(text, dialect);
  kept.set(key, rendered);
  const [oldest] = kept.keys();
  if (kept.size > MAX_CACHED && oldest !== undefined) kept.delete(oldest);
  return rendered;
}

const assemble = (
  { texts, fragments }: Rendered,
  links: Awaited<ReturnType<typeof resolveReferences>>,
): string =>
  texts
    .map((piece, index) => {
      const fragment = fragments[index];
      if (!fragment) return piece;
      if ('html' in fragment) return piece + fragment.html;
      return piece + (links.get(fragment.reference) ?? escapeText(fragment.reference.text));
    })
    .join('');

/** Renders each text as renderMarkdown() does; references of all are resolved as one batch. */
export async function renderEach(
  texts: readonly string[],
  options: { gfm: boolean },
  context: RenderContext,
): Promise<string[]> {
  const { services, project } = context;
  const baseUrl = services.baseUrl();
  const uploads = project && `/-/project/${project.id}`;
  const trackerNames = await readTrackerNames(context);
  const rendered: Rendered[] = [];
  for (const [index, text] of texts.entries()) {
    // Each takes some milliseconds: yield to the event loop between two.
    if (index > 0) await nextTurn();
    rendered.push(await renderOnce(text, { ...options, baseUrl, uploads, trackerNames }));
  }
  const references = rendered.flatMap(({ fragments }) =>
    fragments.flatMap((fragment) => ('reference' in fragment ? fragment.reference : [])),
  );
  const links = await resolveReferences(context, references);
  return rendered.map((each) => assemble(each, links));
}

/** The text as safe HTML. References that are missing, or hidden from the reader, stay text. */
export async function renderMarkdown(
  text: string,
  options: { gfm: boolean },
  context: RenderContext,
): Promise<string> {
  const [html = ''] = await renderEach([text], options, context);
  return html;
}

/**
 * A line of text without markup, such as a title, as safe HTML; its references are as those of renderMarkdown(), but a tracker's own
 * names are found in short ones alone.
 */
export async function renderLine(text: string, context: RenderContext): Promise<string> {
  const isShort = text.length <= MAX_SEARCHED;
  const scan = isShort ? await scannerOf(await readTrackerNames(context)) : scanReferences;
  const found = [...scan(text)].flatMap((each) => ('reference' in each ? each : []));
  const links = await resolveReferences(
    context,
    found.map(({ reference }) => reference),
  );
  let at = 0;
  const pieces = found.map(({ start, end, reference }) => {
    const before = escapeText(text.slice(at, start));
    at = end;
    return before + (links.get(reference) ?? escapeText(reference.text));
  });
  return pieces.join('') + escapeText(text.slice(at));
}
