/** Texts of users, as HTML: Markdown with its references, as the reader sees it. */
import { posix } from 'node:path';
import type { AuthorizedProject } from '../../../kernel/access/find.ts';
import { type Html, html, madeSafe } from '../../../platform/http/pages/html.ts';
import { renderMarkdown } from '../../markdown/index.ts';
import { dot, inAddress } from './components.ts';
import type { ViewContext } from './view-context.ts';

/** The context of a text. */
type Standing = {
  project?: AuthorizedProject | undefined;
  /** For a file: the base of its relative links. */
  file?: { ref: string; folder: readonly string[] };
  /** For a page of a wiki: the address of the wiki, and the folder of the page. */
  wiki?: { address: string; folder: string };
};

/** Characters shown of a text for which the page has no budget left. */
const BEGINNING_LENGTH = 2_000;

const beginningOf = (text: string): Html =>
  html`<pre class="listing">${text.slice(0, BEGINNING_LENGTH)}…</pre><p class="none">This text is too long to be shown here whole.</p>`;

/** A text without markup; only its beginning when it exceeds the rest of the page's budget. */
export function listingOf({ budget: room }: Pick<ViewContext, 'budget'>, text: string): Html {
  if (text.length > room.characters) return beginningOf(text);
  room.characters -= text.length;
  return html`<pre class="listing">${text}</pre>`;
}

/**
 * The text as HTML; nothing for an empty one, and only its beginning when it exceeds the rest of the page's
 * budget.
 */
export async function renderedMarkdown(
  { services, caller, budget: room }: Pick<ViewContext, 'services' | 'caller' | 'budget'>,
  text: string | null | undefined,
  standing: Standing = {},
): Promise<Html | undefined> {
  if (text === null || text === undefined || text.trim() === '') return undefined;
  if (text.length > room.characters) return beginningOf(text);
  room.characters -= text.length;
  const { project } = standing;
  const rendered = await renderMarkdown(text, { gfm: true }, { services, reader: caller, project });
  const led = withDots(withPlainAnchors(withRelativeLinks(rendered, standing)));
  return html`<div class="prose">${madeSafe(belowTitle(led))}</div>`;
}

/** A page has one title of the first level, and texts have theirs below it. */
const belowTitle = (rendered: string): string =>
  rendered.replace(
    /<(\/?)h([1-5])(?=[ >])/g,
    (_, slash: string, level: string) => `<${slash}h${Number(level) + 1}`,
  );

/** Without a script, `#title` leads only to an element with that very id. */
const withPlainAnchors = (rendered: string): string =>
  rendered.replaceAll(/(<h[1-6][^<>]* id=")user-content-/g, '$1');

/** Labels have their colour as elsewhere in pages, and not by a style, which the browser would refuse. The HTML is the renderer's own. */
export const withDots = (rendered: string): string =>
  rendered.replaceAll(
    /(<span class="gl-label-text") style="background-color: (#[\da-f]{6})"/gi,
    (_, begin: string, color: string) => `${dot(color).text}${begin}`,
  );

const element = /<(a|img)\b[^<>]*>/g;
const attribute = /\b(href|src)="([^"]*)"/;
/** Links with a scheme, a host or a path from the root, and those into the page itself. */
const absolute = /^(?:[a-z][a-z\d+.-]*:|\/|#|$)/i;

/** Leads relative links of a file to files, and of a wiki's page to pages. The HTML is the renderer's own. */
export const withRelativeLinks = (rendered: string, standing: Standing): string =>
  standing.file || standing.wiki
    ? rendered.replace(element, (whole: string, name: string) =>
        whole.replace(attribute, (kept: string, key: string, address: string) =>
          absolute.test(address) ? kept : `${key}="${addressOf(standing, name === 'img', address)}"`,
        ),
      )
    : rendered;

function addressOf({ project, file, wiki }: Standing, picture: boolean, address: string): string {
  const [, path = '', rest = ''] = /^([^?#]*)(.*)$/s.exec(address) ?? [];
  if (wiki) return `${wiki.address}/${posix.join('/', wiki.folder, path).slice(1)}${rest}`;
  const inside = posix.join('/', (file?.folder ?? []).map(encodeURIComponent).join('/'), path);
  const kind = picture ? 'raw' : 'blob';
  return `/${project?.fullPath ?? ''}/-/${kind}/${inAddress(file?.ref ?? '')}${inside}${rest}`;
}
