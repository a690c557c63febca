/** Blanks out Markdown code and HTML comments, in time linear in the text. Pure. */
import { fencedLines } from './fences.ts';

/** As many spaces, and the same lines. */
const blank = (text: string): string =>
  text.includes('\n') ? text.replaceAll(/[^\n]/g, ' ') : ' '.repeat(text.length);

/** Blanks HTML comments; one without an end goes on to the end of the text. */
function withoutComments(text: string): string {
  const parts: string[] = [];
  let from = 0;
  for (;;) {
    const start = text.indexOf('<!--', from);
    parts.push(text.slice(from, start < 0 ? undefined : start));
    if (start < 0) return parts.join('');
    const end = text.indexOf('-->', start + 4);
    parts.push(blank(text.slice(start, end < 0 ? undefined : end + 3)));
    if (end < 0) return parts.join('');
    from = end + 3;
  }
}

const BACKTICK = 0x60;

/** Starts and lengths of the runs of backticks. Numbers: there may be a million of them. */
function backticks(text: string): { starts: number[]; sizes: number[] } {
  const starts: number[] = [];
  const sizes: number[] = [];
  for (let start = text.indexOf('`'); start >= 0; ) {
    let end = start + 1;
    while (text.charCodeAt(end) === BACKTICK) end += 1;
    starts.push(start);
    sizes.push(end - start);
    start = text.indexOf('`', end);
  }
  return { starts, sizes };
}

/** Blanks the text between two runs of backticks of one length. */
function withoutSpans(text: string): string {
  const { starts, sizes } = backticks(text);
  const nearest = new Map<number, number>();
  const partner: (number | undefined)[] = [];
  for (let at = starts.length - 1; at >= 0; at--) {
    const size = sizes[at] ?? 0;
    partner[at] = nearest.get(size);
    nearest.set(size, at);
  }
  const parts: string[] = [];
  let from = 0;
  for (let at = 0; at < starts.length; at++) {
    const closing = partner[at];
    if (closing === undefined) continue;
    const start = starts[at] ?? 0;
    const behind = (starts[closing] ?? 0) + (sizes[closing] ?? 0);
    parts.push(text.slice(from, start), blank(text.slice(start, behind)));
    from = behind;
    at = closing;
  }
  parts.push(text.slice(from));
  return parts.join('');
}

/** The text with spaces for fenced code, inline code and comments: offsets stay those of the text. */
export function outsideCode(markdown: string): string {
  const lines = markdown.split('\n');
  const fenced = fencedLines(lines);
  const text = lines.map((line, at) => (fenced[at] ? blank(line) : line)).join('\n');
  return withoutSpans(withoutComments(text));
}
