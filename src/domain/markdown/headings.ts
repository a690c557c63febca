/** Anchors of headings: an id for links, and a link to the heading itself. */
import type { StateCore, Token } from 'markdown-it';
import { escapeText } from './rendered.ts';

/** Prefix of ids in a text, which keeps them apart from the page's own. */
export const ANCHOR_PREFIX = 'user-content-';

/** The anchor of a heading: `What's new?` is `whats-new`. */
export function anchorOf(title: string): string {
  const words = title
    .trim()
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{M}\p{Nd}\p{Pc}\- ]/gu, '')
    .replaceAll(/[ -]+/g, '-');
  // Digits alone would look like an issue's number.
  return /^\d+$/.test(words) ? `anchor-${words}` : words;
}

/** Adds an anchor to each heading; `link` turns the link's HTML into a token, or nothing. */
export function anchorHeadings(state: StateCore, link: (html: string) => Token | undefined): void {
  const taken = new Set<string>();
  const next = new Map<string, number>();
  state.tokens.forEach((heading, index) => {
    const children = state.tokens[index + 1]?.children;
    if (heading.type !== 'heading_open' || !children) return;
    const title = children
      .map(({ type, content }) =>
        type === 'softbreak' ? ' ' : type === 'text' || type === 'code_inline' ? content : '',
      )
      .join('');
    const words = anchorOf(title);
    if (words === '') return;
    let anchor = words;
    for (let count = next.get(words) ?? 1; taken.has(anchor); count++) {
      anchor = `${words}-${count}`;
      next.set(words, count + 1);
    }
    const text = escapeText(title);
    const token = link(
      `<a href="#${anchor}" aria-label="Link to heading '${text}'" data-heading-content="${text}" class="anchor"></a>`,
    );
    if (!token) return;
    taken.add(anchor);
    heading.attrs = [['id', `${ANCHOR_PREFIX}${anchor}`], ...(heading.attrs ?? [])];
    children.push(token);
  });
}
