/**
 * The closing grammar: `Closes #1, g/p#2 and …` in titles, descriptions and commit messages (facts-merge-requests §2.3).
 * Its references and addresses are those that Markdown makes links of. Pure, and in time linear in the texts.
 */
import { outsideCode } from '../../conversation/index.ts';
import { type Reference, referenceAt, scanReferences } from '../../markdown/index.ts';

/** An issue to close when the merge request is merged; whether it exists is not checked. */
export type ClosingReference = {
  /** As written: a full path, or without a slash the name of a project beside; null for the text's own project. */
  path: string | undefined;
  iid: number;
};

/** Of all texts of a merge request; each is looked up when it is merged. */
const MAX_CLOSING_REFERENCES = 500;
/** Keywords and items of lists in one text, repeated ones too: the rest of the text is not read. */
const MAX_STEPS = 10_000;
/** Of the column. */
const MAX_IID = 2_147_483_647;

/** Only the first letter may be of either case. A lookbehind would slow the search down. */
const keyword =
  /(?:[Cc]los(?:e[sd]?|ing)|[Ff]ix(?:e[sd]|ing)?|[Rr]esolv(?:e[sd]?|ing)|[Ii]mplement(?:s|ed|ing)?):? +/g;
/** Before a keyword there is none; `\b` would know no letters beyond ASCII. */
const endOfWord = /[\p{L}\p{N}_]$/u;
const noun = /issues? +/y;
/** What may be a reference to an issue, and all that decides where its number ends. */
const reference = /[\w./-]{0,6000}#\d{1,11}\w?/y;
/** `+` and `+s` show an issue's title and summary. */
const suffix = /\+s?(?!\w)/y;
/** Of another issue tracker: it is part of a list, and nothing here is closed by it. */
const externalKey = /[A-Z][A-Z0-9_]{1,100}-\d{1,20}(?!\w)/y;
/** An address ends before the full stop or colon of its sentence. */
const address = /[^\s<>"'`()[\],]{1,2500}(?<![.:;!?])/y;
const separator = / *(?:, *)?(?:(?<= )and +)?/y;

type Item = { end: number; reference?: Reference | undefined };

/** What the sticky pattern matches at the position; empty where it does not match. */
function matchAt(pattern: RegExp, text: string, at: number): string {
  pattern.lastIndex = at;
  return pattern.exec(text)?.[0] ?? '';
}

/** A reference to an issue, by number alone or with a path. */
function referenceTo(text: string, at: number): Item | undefined {
  const { value: found } = scanReferences(matchAt(reference, text, at)).next();
  if (!found || !('reference' in found) || found.start > 0 || found.reference.kind !== 'issue')
    return undefined;
  const end = at + found.end;
  return { reference: found.reference, end: end + matchAt(suffix, text, end).length };
}

/** The whole address of an issue at the position, with or without a query and a fragment. */
function addressAt(baseUrl: string, text: string, at: number): Item | undefined {
  if (!text.startsWith(`${baseUrl}/`, at)) return undefined;
  const written = matchAt(address, text, at);
  const [page = ''] = written.split(/[?#]/, 1);
  const reference = referenceAt(baseUrl, page);
  return reference?.kind === 'issue' ? { reference, end: at + written.length } : undefined;
}

function externalAt(text: string, at: number): Item | undefined {
  const { length } = matchAt(externalKey, text, at);
  return length > 0 ? { end: at + length } : undefined;
}

/** The items of one list, which begins at the position. */
function* listAt(
  markdown: string,
  text: string,
  start: number,
  itemAt: (at: number) => Item | undefined,
): Generator<Item> {
  for (let at = start; ; ) {
    const item = itemAt(at + matchAt(noun, text, at).length);
    if (!item) return;
    yield item;
    const between = matchAt(separator, text, item.end);
    // Code is blank in the text, and separates nothing.
    if (!markdown.startsWith(between, item.end)) return;
    at = item.end + between.length;
  }
}

function* closingIn(baseUrl: string, markdown: string): Generator<Reference> {
  if (markdown.search(keyword) < 0) return;
  const text = outsideCode(markdown);
  const itemAt = (at: number) =>
    addressAt(baseUrl, text, at) ?? referenceTo(text, at) ?? externalAt(text, at);
  let steps = 0;
  for (const match of text.matchAll(keyword)) {
    steps += 1;
    if (steps > MAX_STEPS) return;
    const [written] = match;
    const before = text.slice(Math.max(0, match.index - 2), match.index);
    if (endOfWord.test(before) || !markdown.startsWith(written, match.index)) continue;
    for (const item of listAt(markdown, text, match.index + written.length, itemAt)) {
      if (item.reference) yield item.reference;
      steps += 1;
      if (steps > MAX_STEPS) return;
    }
  }
}

/**
 * The issues that the texts close: a merge request's title and description and the messages of its commits, each a text
 * of its own. In order, each once as it is first written, the first 500. `baseUrl` has no slash at its end.
 */
export function closingReferences(baseUrl: string, texts: Iterable<string | null>): ClosingReference[] {
  const found = new Map<string, ClosingReference>();
  for (const markdown of texts) {
    for (const { path, name } of closingIn(baseUrl, markdown ?? '')) {
      const iid = Number(name);
      const key = `${path?.toLowerCase() ?? ''}#${iid}`;
      if (iid === 0 || iid > MAX_IID || found.has(key)) continue;
      found.set(key, { path, iid });
      if (found.size === MAX_CLOSING_REFERENCES) return [...found.values()];
    }
  }
  return [...found.values()];
}
