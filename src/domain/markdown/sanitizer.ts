/** The HTML that a text may have; other elements go, with or without their text (facts: Markdown). */
import sanitizeHtml from 'sanitize-html';
import { ANCHOR_PREFIX } from './headings.ts';

export type LinkContext = {
  /** Without a slash at the end. */
  baseUrl: string;
  /** The path of `/uploads/…` from the root; undefined without uploads. */
  uploads?: string | undefined;
};

const allowedTags = [
  ...['h1', 'h2', 'h3', 'h4', 'h5', 'h6', 'p', 'br', 'hr', 'ul', 'ol', 'li', 'dl', 'dt', 'dd', 'blockquote'],
  ...[
    'pre',
    'code',
    'em',
    'strong',
    'b',
    'i',
    's',
    'strike',
    'del',
    'ins',
    'sub',
    'sup',
    'kbd',
    'samp',
    'var',
  ],
  ...['q', 'abbr', 'tt', 'a', 'img', 'div', 'span', 'details', 'summary', 'ruby', 'rt', 'rp'],
  ...['table', 'thead', 'tbody', 'tfoot', 'tr', 'th', 'td'],
];

const align = { name: 'align', values: ['left', 'center', 'right'] };

const allowedAttributes = {
  '*': ['dir', 'data-sourcepos'],
  a: ['href', 'title', 'rel'],
  img: ['src', 'alt', 'title', 'width', 'height'],
  ol: ['start'],
  li: ['value'],
  abbr: ['title'],
  details: ['open'],
  ...Object.fromEntries(['h1', 'h2', 'h3', 'h4', 'h5', 'h6'].map((heading) => [heading, ['id']])),
  th: [align, 'colspan', 'rowspan'],
  td: [align, 'colspan', 'rowspan'],
};

/** Only the renderer's own classes, so that no text looks like a part of a page. */
const allowedClasses = {
  code: [/^language-[\w+#.-]{1,50}$/],
  ul: ['task-list'],
  ol: ['task-list'],
  li: ['task-list-item'],
};

/** Formats of these attributes, as the renderer writes them. */
const position = /^\d{1,9}:\d{1,9}-\d{1,9}:\d{1,9}$/;
const anchor = new RegExp(`^${ANCHOR_PREFIX}[\\p{L}\\p{M}\\p{Nd}\\p{Pc}-]+$`, 'u');

/** Deeper elements are removed. */
const MAX_DEPTH = 100;

const upload = /^\/uploads\/[0-9a-f]{32}\/[^/?#\\]+$/;

const scheme = /^[^/?#]*:/;
const knownScheme = /^(https?|mailto):/i;

/** The address to keep; undefined for one with an unknown scheme. */
function addressOf({ baseUrl, uploads }: LinkContext, address: string | undefined): string | undefined {
  if (address === undefined || (scheme.test(address) && !knownScheme.test(address))) return undefined;
  return uploads !== undefined && upload.test(address) ? `${baseUrl}${uploads}${address}` : address;
}

const isOwn = ({ baseUrl }: LinkContext, address: string): boolean =>
  address.startsWith('#') || address === baseUrl || address.startsWith(`${baseUrl}/`);

/** The sanitised HTML. `text` gets each piece of text as written out, between elements only. */
export const sanitize = (source: string, place: LinkContext, text: (piece: string) => string): string =>
  sanitizeHtml(source, {
    allowedTags,
    allowedAttributes,
    allowedClasses,
    allowedSchemes: ['http', 'https', 'mailto'],
    allowedSchemesByTag: { img: ['http', 'https'] },
    allowedSchemesAppliedToAttributes: ['href', 'src'],
    allowProtocolRelative: false,
    parseStyleAttributes: false,
    nestingLimit: MAX_DEPTH,
    textFilter: text,
    transformTags: {
      '*': (tagName, attribs) => {
        const { 'data-sourcepos': place, id } = attribs;
        if (place !== undefined && !position.test(place)) delete attribs['data-sourcepos'];
        if (id !== undefined && !anchor.test(id)) delete attribs.id;
        return { tagName, attribs };
      },
      a: (tagName, { href, title }) => {
        const address = addressOf(place, href);
        const rel =
          address === undefined || isOwn(place, address) ? undefined : 'nofollow noreferrer noopener';
        return { tagName, attribs: present({ href: address, title, rel }) };
      },
      img: (tagName, { src, ...attribs }) => ({
        tagName,
        attribs: { ...attribs, ...present({ src: addressOf(place, src) }) },
      }),
    },
  });

const present = (attributes: Record<string, string | undefined>): Record<string, string> =>
  Object.fromEntries(
    Object.entries(attributes).flatMap(([name, value]) => (value === undefined ? [] : [[name, value]])),
  );
