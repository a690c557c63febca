/** The components of pages, as HTML: people, times, labels, lists and the way to the next page. */

import { type Html, type HtmlValue, html } from '../../../platform/http/pages/html.ts';
import type { Page } from '../../../platform/pagination/page.ts';
import type { ViewContext } from './view-context.ts';

type Person = { name: string; username: string };

/** The path's components, each safe in an address. */
export const inAddress = (path: string): string => path.split('/').map(encodeURIComponent).join('/');

export const personLink = ({ name, username }: Person): Html =>
  html`<a href="/${username}" title="@${username}">${name}</a>`;

/** A time to the minute, in UTC. */
export const timeOf = (iso: string): Html => {
  const time = new Date(iso);
  const shown = Number.isNaN(time.getTime()) ? iso : time.toISOString().slice(0, 16).replace('T', ' ');
  return html`<time datetime="${iso}">${shown} UTC</time>`;
};

const MAX_LINE_LENGTH = 500;

/** The beginning of a line that git keeps: git has no limit on its length. */
export const oneLine = (text: string): string =>
  text.length > MAX_LINE_LENGTH ? `${text.slice(0, MAX_LINE_LENGTH)}…` : text;

/** The day of a time, in UTC. */
export const dayOf = (iso: string): Html => html`<time datetime="${iso}">${iso.slice(0, 10)}</time>`;

type TagKind = 'urgent' | 'warning' | 'open' | 'closed' | 'quiet';

export const tag = (text: string, kind: TagKind = 'quiet'): Html =>
  html`<span class="tag ${kind}">${text}</span>`;

/** States, severities and levels that need attention, or no longer do; every other word is quiet. */
const kinds = new Map<string, TagKind>([
  ...['triggered', 'critical', 'fatal', 'failed'].map((word) => [word, 'urgent'] as const),
  ...['acknowledged', 'unresolved', 'high', 'medium', 'error', 'warning'].map(
    (word) => [word, 'warning'] as const,
  ),
  ['success', 'open'],
  ['resolved', 'closed'],
]);

/** A visibility, or another word of a record, as a tag. */
export const wordTag = (word: string): Html =>
  tag(`${(word[0] ?? '').toUpperCase()}${word.slice(1).replaceAll('_', ' ')}`, kinds.get(word.toLowerCase()));

/** A state of an issue, epic, merge request or milestone; a `locked` one is being merged. */
export const stateTag = (state: string): Html =>
  state === 'closed' || state === 'merged'
    ? tag(state === 'closed' ? 'Closed' : 'Merged', 'closed')
    : tag(state === 'active' ? 'Active' : 'Open', 'open');

/** A label; the colour is in a picture, since the pages allow no styles of their own. */
export const labelChip = ({ name, color }: { name: string; color: string }, href?: string): Html =>
  href === undefined
    ? html`<span class="label">${dot(color)}${name}</span>`
    : html`<a class="label" href="${href}">${dot(color)}${name}</a>`;

/** The colour of a label: pages allow no styles in elements. */
export const dot = (color: string): Html =>
  html`<svg class="dot" viewBox="0 0 8 8" aria-hidden="true"><circle cx="4" cy="4" r="4" fill="${color}"/></svg>`;

/** A picture of this site's, or the first letter of the name: pictures of other sites are not loaded. */
export function avatar(view: ViewContext, name: string, url: string | null): Html {
  const home = `${view.services.baseUrl()}/`;
  return url?.startsWith(home)
    ? html`<img class="avatar" src="${url.slice(home.length - 1)}" alt="" width="48" height="48">`
    : html`<span class="avatar" aria-hidden="true">${[...name][0] ?? ''}</span>`;
}

/** Names and values; those without a value are left out. */
export const facts = (...pairs: [name: string, value: HtmlValue][]): Html =>
  html`<dl class="facts">
${pairs.map(([name, value]) => isThere(value) && html`<div><dt>${name}</dt><dd>${value}</dd></div>`)}
</dl>`;

const isThere = (value: HtmlValue): boolean =>
  value !== null &&
  value !== undefined &&
  value !== false &&
  value !== '' &&
  !(Array.isArray(value) && value.length === 0);

/** Items of a list, or a sentence where there are none. */
export const listOf = (items: readonly Html[], none: string): Html =>
  items.length === 0
    ? html`<p class="none">${none}</p>`
    : html`<ul class="things">${items.map((item) => html`<li>${item}</li>`)}</ul>`;

/** One item of a list: its title, and a quieter line below. */
export const thing = (title: HtmlValue, below: HtmlValue, beside?: HtmlValue): Html =>
  html`<div><div class="what">${title}</div><div class="below">${below}</div></div>${beside && html`<div class="beside">${beside}</div>`}`;

const MAX_PAGES = 100_000;

/** The number of the requested page. */
export const pageNumber = ({ field }: Pick<ViewContext, 'field'>): number => {
  const text = field('page');
  return /^[1-9]\d{0,5}$/.test(text) ? Math.min(Number(text), MAX_PAGES) : 1;
};

/** Links to the previous and the next page, where there are any. */
export function pager(view: ViewContext, { more }: Pick<Page<unknown>, 'more'>): Html | undefined {
  const number = pageNumber(view);
  if (number === 1 && !more) return undefined;
  const address = (page: number): string => {
    const query = new URLSearchParams(view.request.query);
    query.set('page', String(page));
    return `?${query}`;
  };
  return html`<nav class="pager" aria-label="Pages">
${number > 1 && html`<a rel="prev" href="${address(number - 1)}">Previous</a>`}
<span>Page ${number}</span>
${more && html`<a rel="next" href="${address(number + 1)}">Next</a>`}
</nav>`;
}

/** Links of which one is the present page. */
export const choices = (
  name: string,
  links: readonly { href: string; label: string; here: boolean }[],
): Html =>
  html`<nav class="tabs" aria-label="${name}">${links.map(
    ({ href, label, here }) => html`<a href="${href}"${here && html` aria-current="page"`}>${label}</a>`,
  )}</nav>`;
