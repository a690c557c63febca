/**
 * The closing grammar: `Closes #1, g/p#2 and …` in titles, descriptions and commit messages (facts-merge-requests §2.3).
 * Its references and addresses are those that Markdown makes links of. Pure, and in time linear in the texts.
 */
import { outsideCode } from '../../conversation/index.ts';
import { type Reference, referenceAt, scanReferences } from '../../markdown/index.ts';

/** An issue to close when the merge request is merged; whether it exists is not checked. */
export type ClosingReference = {
  /** As written: a full path, or without a slash the name of a project beside; null for the text's own project. */
  projectPath: string | null;
  iid: number;
};

/** Of all texts of a merge request; each is looked up when it is merged. */
const MAX_CLOSING_REFERENCES = 500;
/** Of the column. */
const MAX_IID = 2_147_483_647;

/** Only the first letter may be of either case. `\b` knows no letters beyond ASCII. */
const keyword =
  /(?<![\p{L}\p{N}_])(?:[Cc]los(?:e[sd]?|ing)|[Ff]ix(?:e[sd]|ing)?|[Rr]esolv(?:e[sd]?|ing)|[Ii]mplement(?:s|ed|ing)?):? +/gu;
const noun = /issues? +/y;
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

/** Finds references to issues by their position; positions that are asked for must not go back. */
function issueReader(text: string): (at: number) => Item | undefined {
  const found = scanReferences(text);
  let next = found.next();
  return (at) => {
    while (!next.done && next.value.start < at) next = found.next();
    if (next.done || next.value.start !== at || !('reference' in next.value)) return undefined;
    const { reference, end } = next.value;
    return reference.kind === 'issue'
      ? { reference, end: end + matchAt(suffix, text, end).length }
      : undefined;
  };
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

/** The references of one list, which begins at the position. */
function* listAt(
  markdown: string,
  text: string,
  start: number,
  itemAt: (at: number) => Item | undefined,
): Generator<Reference> {
  for (let at = start; ; ) {
    const item = itemAt(at + matchAt(noun, text, at).length);
    if (!item) return;
    if (item.reference) yield item.reference;
    const between = matchAt(separator, text, item.end);
    // Code is blank in the text, and separates nothing.
    if (!markdown.startsWith(between, item.end)) return;
    at = item.end + between.length;
  }
}

function* closingIn(baseUrl: string, markdown: string): Generator<Reference> {
  const text = outsideCode(markdown);
  const issueAt = issueReader(text);
  const itemAt = (at: number) => addressAt(baseUrl, text, at) ?? issueAt(at) ?? externalAt(text, at);
  for (const match of text.matchAll(keyword)) {
    const [written] = match;
    if (markdown.startsWith(written, match.index))
      yield* listAt(markdown, text, match.index + written.length, itemAt);
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
      found.set(key, { projectPath: path ?? null, iid });
      if (found.size === MAX_CLOSING_REFERENCES) return [...found.values()];
    }
  }
  return [...found.values()];
}
