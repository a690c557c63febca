/** The HTML of a resolved reference. Pure. */
import type { ReferenceKind } from './references.ts';
import { escapeText } from './rendered.ts';

/** Characters of a title, which is repeated for each reference. */
const MAX_TITLE_LENGTH = 255;

type Linked = {
  href: string;
  kind: ReferenceKind;
  title: string;
  /** The class of its kind, where it is another than `gfm-kind`. */
  className?: string;
};

/** A link around HTML; its own parts are escaped: users wrote them. */
export const linkAround = ({ href, kind, title, className = `gfm-${kind}` }: Linked, html: string): string =>
  `<a href="${escapeText(href)}" data-reference-type="${kind}" title="${escapeText(title.slice(0, MAX_TITLE_LENGTH).toWellFormed())}" class="gfm ${className}">${html}</a>`;

/** A link around text. */
export const link = (linked: Linked & { text: string }): string =>
  linkAround(linked, escapeText(linked.text));
