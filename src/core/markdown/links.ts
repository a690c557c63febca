/** The HTML of a resolved reference. Pure. */
import type { ReferenceKind } from './references.ts';
import { escapeText } from './rendered.ts';

const classes: Record<ReferenceKind, string> = {
  issue: 'gfm gfm-issue',
  epic: 'gfm gfm-epic',
  snippet: 'gfm gfm-snippet',
  milestone: 'gfm gfm-milestone',
  label: 'gfm gfm-label gl-label-link',
  commit: 'gfm gfm-commit',
  user: 'gfm gfm-project_member',
};

/** Characters of a title, which is repeated for each reference. */
const MAX_TITLE_LENGTH = 255;

type Target = { href: string; kind: ReferenceKind; title: string };

const opening = ({ href, kind, title }: Target): string =>
  `<a href="${escapeText(href)}" data-reference-type="${kind}" title="${escapeText(title.slice(0, MAX_TITLE_LENGTH).toWellFormed())}" class="${classes[kind]}">`;

/** A link whose parts are escaped: users wrote them. */
export const link = (target: Target & { text: string }): string =>
  `${opening(target)}${escapeText(target.text)}</a>`;

/** A label in its colour, with its project's path where that is another. */
export function labelLink(label: {
  href: string;
  name: string;
  description: string | null;
  color: string;
  place: string;
}): string {
  const style = /^#[\da-f]{6}$/i.test(label.color) ? ` style="background-color: ${label.color}"` : '';
  const place = label.place === '' ? '' : ` <i>in ${escapeText(label.place)}</i>`;
  const noteable: Target = { href: label.href, kind: 'label', title: label.description ?? '' };
  return `<span class="gl-label">${opening(noteable)}<span class="gl-label-text"${style}>${escapeText(label.name)}${place}</span></a></span>`;
}
