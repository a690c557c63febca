/**
 * Renders Markdown to safe HTML, in one pass and without a database: references become marks, which the
 * caller replaces by links for its reader. Loaded only where something is rendered.
 */
import createMarkdownIt, { type MarkdownIt, type StateBlock, type StateCore, type Token } from 'markdown-it';
import { randomHex } from '../../platform/secret.ts';
import { emojiElement } from './emoji.ts';
import { anchorHeadings } from './headings.ts';
import { referenceAt, scanReferences } from './references.ts';
import { asWritten, type Fragment, type Rendered } from './rendered.ts';
import { type LinkContext, sanitize } from './sanitizer.ts';
import { type BlockStarts, noteStart, sayPositions } from './source-positions.ts';
import type { Scan } from './tracker-names.ts';

export type Dialect = LinkContext & {
  /** References, emoji and task lists, which are not in plain Markdown. */
  gfm: boolean;
  /** How the project's tracker names its issues, where that is not the common way. */
  trackerNames?: string | undefined;
  /** Renders one line, without paragraphs, lists or headings. */
  line?: boolean;
};

/** More in one text stay as written: a few bytes of text would become hundreds of HTML. */
const MAX_FRAGMENTS = 5_000;

type Marks = {
  fragments: Fragment[];
  /** The mark of a fragment; undefined beyond MAX_FRAGMENTS. */
  mark(fragment: Fragment): string | undefined;
  /** The sanitised HTML, split at the marks. */
  cut(html: string, place: LinkContext): Rendered;
};

/**
 * Marks have a random number, and count only where the sanitiser saw them between elements: an unclosed quote
 * may move one into an attribute, where it must not become HTML.
 */
function createMarks(): Marks {
  const fragments: Fragment[] = [];
  const inside = randomHex(16);
  const outside = randomHex(16);
  const marked = new RegExp(`\u0002${inside}:(\\d+)\u0003`, 'g');
  return {
    fragments,
    mark(fragment) {
      if (fragments.length >= MAX_FRAGMENTS) return undefined;
      return `\u0002${inside}:${fragments.push(fragment) - 1}\u0003`;
    },
    cut(html, place) {
      const safe = sanitize(html, place, (piece) => piece.replace(marked, `\u0002${outside}:$1\u0003`));
      const parts = safe.replace(marked, '').split(new RegExp(`\u0002${outside}:(\\d+)\u0003`));
      const texts = parts.filter((_, index) => index % 2 === 0);
      const order = parts.filter((_, index) => index % 2 === 1);
      return { texts, fragments: order.map((index) => fragments[Number(index)] ?? { html: '' }) };
    },
  };
}

type Env = { dialect: Dialect; scan: Scan; marks: Marks; starts: BlockStarts; grown?: true };

/** Maximum of blocks and cells per character, plus a constant: rows are filled up to a table's head. */
const BLOCKS = { each: 2, besides: 200 };
/** Maximum length of addresses and titles, likewise: a link definition is repeated wherever it is used. */
const ADDRESSES = { each: 10, besides: 10_000 };

/**
 * Runs before all block rules: records where each block starts, and ends a text with far more blocks than
 * characters, between a table's rows too.
 */
function watchBlocks(state: StateBlock, start: number, end: number, silent: boolean): boolean {
  if (!silent) noteStart((state.env as Env).starts, state, start);
  if (state.tokens.length <= BLOCKS.each * state.src.length + BLOCKS.besides) return false;
  (state.env as Env).grown = true;
  if (!silent) state.line = end;
  return true;
}

/** Empties a text whose addresses are far longer than the text: they must not be concatenated. */
function boundAddresses(state: StateCore): void {
  let letters = 0;
  for (const { children } of state.tokens)
    for (const { attrs } of children ?? [])
      for (const [, value] of attrs ?? []) letters += String(value).length;
  if (letters <= ADDRESSES.each * state.src.length + ADDRESSES.besides) return;
  (state.env as Env).grown = true;
  state.tokens = [];
}

const blockTags = new Set(['p', 'h1', 'h2', 'h3', 'h4', 'h5', 'h6', 'ul', 'ol', 'blockquote', 'table']);

/** Sets `dir="auto"`, and the alignment of columns by an attribute instead of a style. */
function dressBlocks({ tokens }: StateCore): void {
  for (const token of tokens) {
    if (token.nesting !== 1) continue;
    if (blockTags.has(token.tag)) token.attrSet('dir', 'auto');
    const [, side] = /^text-align:(left|center|right)$/.exec(String(token.attrGet('style'))) ?? [];
    if (side !== undefined) token.attrs = [['align', side]];
  }
}

const task = /^\[([ xX])\](?=\s)/;

/** `- [ ] text` is a task. The checkbox is ours: the text cannot have an input of its own. */
function markTasks(state: StateCore): void {
  const { tokens, env } = state;
  const lists: Token[] = [];
  tokens.forEach((token, index) => {
    if (token.type === 'bullet_list_open' || token.type === 'ordered_list_open') lists.push(token);
    else if (token.type === 'bullet_list_close' || token.type === 'ordered_list_close') lists.pop();
    const item = tokens[index - 2];
    if (token.type !== 'inline' || item?.type !== 'list_item_open') return;
    const first = token.children?.[0];
    const [box, sign] = task.exec(first?.type === 'text' ? first.content : '') ?? [];
    if (!first || box === undefined) return;
    const html = `<input type="checkbox" class="task-list-item-checkbox" disabled${sign === ' ' ? '' : ' checked'}>`;
    const mark = (env as Env).marks.mark({ html });
    if (mark === undefined) return;
    item.attrSet('class', 'task-list-item');
    lists.at(-1)?.attrSet('class', 'task-list');
    first.content = first.content.slice(box.length);
    token.children?.unshift(marked(state, mark));
  });
}

function marked(state: StateCore, mark: string): Token {
  const token = new state.Token('mark', '', 0);
  token.content = mark;
  return token;
}

/** The text of a token, with a mark for each reference and emoji. */
function markText(state: StateCore, token: Token): Token[] {
  const { marks, scan } = state.env as Env;
  const made: Token[] = [];
  let end = 0;
  const keep = (until: number): void => {
    if (until <= end) return;
    const text = new state.Token('text', '', 0);
    text.content = token.content.slice(end, until);
    made.push(text);
  };
  for (const found of scan(token.content)) {
    let fragment: Fragment;
    if ('reference' in found) fragment = found;
    else {
      const html = emojiElement(found.emoji);
      if (html === undefined) continue;
      fragment = { html };
    }
    const mark = marks.mark('reference' in fragment ? { reference: fragment.reference } : fragment);
    if (mark === undefined) break;
    keep(found.start);
    made.push(marked(state, mark));
    end = found.end;
  }
  if (end === 0) return [token];
  keep(token.content.length);
  return made;
}

/** Adds the anchor and its link to each heading. */
function markHeadings(state: StateCore): void {
  anchorHeadings(state, (html) => {
    const mark = (state.env as Env).marks.mark({ html });
    return mark === undefined ? undefined : marked(state, mark);
  });
}

/** Links have no marks inside; a link that is only an address of this instance is a reference. */
function markReferences(state: StateCore): void {
  const { dialect, marks } = state.env as Env;
  for (const inline of state.tokens) {
    const { children } = inline;
    if (!children) continue;
    const made: Token[] = [];
    let links = 0;
    for (let index = 0; index < children.length; index++) {
      const token = children[index];
      if (!token) continue;
      if (token.type === 'link_open') {
        const reference =
          token.info === 'auto' ? referenceAt(dialect.baseUrl, String(token.attrGet('href'))) : undefined;
        const mark = reference && marks.mark({ reference });
        if (mark !== undefined) {
          made.push(marked(state, mark));
          // An autolink is an opening, its text and a closing.
          index += 2;
          continue;
        }
        links += 1;
      } else if (token.type === 'link_close') links -= 1;
      else if (token.type === 'html_inline' && /^<a[\s>]/i.test(token.content)) links += 1;
      else if (token.type === 'html_inline' && /^<\/a\s*>/i.test(token.content)) links -= 1;
      if (token.type === 'text' && links <= 0) made.push(...markText(state, token));
      else made.push(token);
    }
    inline.children = made;
  }
}

function createParser(gfm: boolean): MarkdownIt {
  const parser = createMarkdownIt({ html: true, linkify: true });
  // `file.md` and `user@host` are more often names than addresses.
  parser.linkify.set({ fuzzyLink: false, fuzzyEmail: false });
  parser.block.ruler.before('table', 'watch_blocks', watchBlocks, { alt: ['blockquote'] });
  parser.core.ruler.after('inline', 'bound_addresses', boundAddresses);
  parser.core.ruler.push('dress_blocks', dressBlocks);
  if (gfm) {
    parser.core.ruler.push('headings', markHeadings);
    parser.core.ruler.push('tasks', markTasks);
    parser.core.ruler.push('references', markReferences);
  }
  parser.core.ruler.push('positions', (state) => sayPositions(state, (state.env as Env).starts));
  const { fence } = parser.renderer.rules;
  // The attributes of a fenced block belong on `pre`, as those of an indented one do.
  parser.renderer.rules.fence = (tokens, index, options, env, renderer) => {
    const token = tokens[index];
    const attributes = token ? renderer.renderAttrs(token) : '';
    if (token) token.attrs = null;
    const html = fence?.(tokens, index, options, env, renderer) ?? '';
    return html.replace('<pre>', () => `<pre${attributes}>`);
  };
  parser.renderer.rules.mark = (tokens, index) => tokens[index]?.content ?? '';
  return parser;
}

let parsers: { plain: MarkdownIt; gfm: MarkdownIt } | undefined;

/**
 * The text as safe HTML, split at its references; as written when it grows out of proportion. Takes nearly
 * linear time.
 */
export function renderDocument(text: string, dialect: Dialect, scan: Scan = scanReferences): Rendered {
  parsers ??= { plain: createParser(false), gfm: createParser(true) };
  const parser = dialect.gfm ? parsers.gfm : parsers.plain;
  const marks = createMarks();
  const env: Env = { dialect, scan, marks, starts: new Map() };
  const html = dialect.line ? parser.renderInline(text, env) : parser.render(text, env);
  return env.grown ? asWritten(text) : marks.cut(html, dialect);
}
