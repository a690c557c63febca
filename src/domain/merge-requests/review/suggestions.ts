/** Changes that a note suggests for the lines it is about (facts-merge-requests: 7.5). Pure. */
import { isUtf8 } from 'node:buffer';
import { decode } from '../../../platform/git/parse.ts';
import { fencedBlocks, type NotePosition } from '../../conversation/index.ts';

/** As it is stored: how many lines around the line of its note it replaces, which moves with the note, and by what. */
export type Suggestion = {
  lines_above: number;
  lines_below: number;
  from_content: string;
  to_content: string;
};

const MAX_LINES_BESIDE = 100;
/** Further ones in a note stay code. */
const MAX_SUGGESTIONS = 100;
/** Of the lines that those of a note replace: they are stored, and read by the page, beside those that it has instead. */
const MAX_FROM_BYTES = 65_536;

const info = /^suggestion(?::(?:-(\d{1,3}))?(?:\+(\d{1,3}))?)?(?=\s|$)/;

const rangeIn = (text: string): [above: number, below: number] => {
  const [, above = 0, below = 0] = info.exec(text) ?? [];
  return [Number(above), Number(below)];
};

const isSuggestion = (text: string): boolean =>
  info.test(text) && rangeIn(text).every((lines) => lines <= MAX_LINES_BESIDE);

export type WrittenSuggestion = { above: number; below: number; lines: string[] };

/**
 * The fenced blocks `suggestion:-A+B` of a text, A and B each up to 100 and 0 where they are not given. What is not of this
 * form is code: applied to other lines than its author meant, it would do harm.
 */
export function parseSuggestions(markdown: string): WrittenSuggestion[] {
  if (!markdown.includes('suggestion')) return [];
  const lines = markdown.split(/\r?\n/);
  // The text's own last line feed is no line of an open block.
  if (lines.at(-1) === '') lines.pop();
  const suggestions: WrittenSuggestion[] = [];
  for (const block of fencedBlocks(lines, isSuggestion)) {
    const [above, below] = rangeIn(block.info);
    suggestions.push({ above, below, lines: block.lines });
    if (suggestions.length === MAX_SUGGESTIONS) break;
  }
  return suggestions;
}

/** A file whose lines are found by number, from 1; the starts have its length behind them. */
export type FileLines = { content: Buffer; starts: readonly number[] };

const LINE_FEED = 0x0a;

export function readLines(content: Buffer): FileLines {
  const starts = [0];
  for (let at = 0; at < content.length; at++) if (content[at] === LINE_FEED) starts.push(at + 1);
  if (starts.at(-1) !== content.length) starts.push(content.length);
  return { content, starts };
}

export const lineCount = ({ starts }: FileLines): number => starts.length - 1;

/** The lines from the one number to the other, both included, with their ends. */
export const bytesOf = ({ content, starts }: FileLines, from: number, to: number): Buffer =>
  content.subarray(starts[from - 1] ?? content.length, starts[to] ?? content.length);

/** The replacement in bytes: of a file that is no UTF-8 it is read as Latin-1 again. */
export const encodeLike = (text: string, { content }: FileLines): Buffer =>
  isUtf8(content) || [...text].some((character) => character > '\u00ff')
    ? Buffer.from(text)
    : Buffer.from(text, 'latin1');

/** CRLF or LF, as the first of the lines has it; the first of the file where those have none. */
function lineBreakOf(file: FileLines, from: number): string {
  const first = decode(bytesOf(file, from, from));
  const sample = first.endsWith('\n') ? first : decode(bytesOf(file, 1, 1));
  return sample.endsWith('\r\n') ? '\r\n' : '\n';
}

/** The lines that the file has afterwards, which end as those before did. Nothing but space removes them. */
function replacement(file: FileLines, lines: readonly string[], from: number, fromContent: string): string {
  if (lines.every((line) => line.trim() === '')) return '';
  const lineBreak = lineBreakOf(file, from);
  const end = fromContent.endsWith('\n') ? (fromContent.endsWith('\r\n') ? '\r\n' : '\n') : '';
  return lines.join(lineBreak) + end;
}

/** The lines that a suggestion of the note at the position replaces. */
export const rangeOf = (
  { new_line }: Pick<NotePosition, 'new_line'>,
  { lines_above, lines_below }: Pick<Suggestion, 'lines_above' | 'lines_below'>,
): { from_line: number; to_line: number } => ({
  from_line: (new_line ?? 0) - lines_above,
  to_line: (new_line ?? 0) + lines_below,
});

/**
 * The suggestions that are written in a note; none where its position has no line of the new version. `file` is that version: a range goes
 * no further than its first and last line. Too long ones stay code, as do those for lines that no column can store.
 */
export function suggestionsOf(
  written: readonly WrittenSuggestion[],
  position: Pick<NotePosition, 'position_type' | 'new_line'>,
  file: FileLines,
): Suggestion[] {
  const { position_type, new_line } = position;
  const count = lineCount(file);
  if (position_type !== 'text' || !new_line || new_line > count) return [];
  let left = MAX_FROM_BYTES;
  return written.flatMap(({ above, below, lines }) => {
    const lines_above = Math.min(above, new_line - 1);
    const lines_below = Math.min(below, count - new_line);
    const { from_line, to_line } = rangeOf(position, { lines_above, lines_below });
    const bytes = bytesOf(file, from_line, to_line);
    if (bytes.length > left || bytes.includes(0)) return [];
    left -= bytes.length;
    const from_content = decode(bytes);
    return {
      lines_above,
      lines_below,
      from_content,
      to_content: replacement(file, lines, from_line, from_content),
    };
  });
}
