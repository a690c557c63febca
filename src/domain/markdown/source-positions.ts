/**
 * Source positions of blocks, as public renderers write them: `data-sourcepos="1:1-2:5"`, the line and column
 * of the first and the last character. Both count from 1; columns are bytes.
 */
import type { StateBlock, StateCore, Token } from 'markdown-it';

/** Offsets of block starts, by the number of their first token. */
export type BlockStarts = Map<number, number>;

/** Call it wherever a block may start: only the parser knows the margin in containers and lazy lines. */
export function noteStart(starts: BlockStarts, state: StateBlock, line: number): void {
  starts.set(state.tokens.length, (state.bMarks[line] ?? 0) + (state.tShift[line] ?? 0));
}

/** Blocks that get a position; of a table, only the whole. */
const blocks = new Set([
  ...['paragraph_open', 'heading_open', 'blockquote_open', 'bullet_list_open', 'ordered_list_open'],
  ...['list_item_open', 'table_open', 'fence', 'code_block', 'hr'],
]);

type Lines = {
  src: string;
  /** Offsets of the lines, and of the end. */
  begins: number[];
  /** For each line, the last one up to it with content, quotation margins aside. */
  filled: number[];
};

function linesOf(src: string): Lines {
  const begins: number[] = [];
  const filled: number[] = [];
  let at = 0;
  for (const line of src.split('\n')) {
    filled.push(/[^\s>]/.test(line) ? begins.length : (filled.at(-1) ?? 0));
    begins.push(at);
    at += line.length + 1;
  }
  begins.push(at);
  return { src, begins, filled };
}

const beginOf = ({ begins, src }: Lines, line: number): number => begins[line] ?? src.length;
const endOf = (lines: Lines, line: number): number => beginOf(lines, line + 1) - 1;

/** Bytes of the line before this offset. */
const bytesBefore = (lines: Lines, line: number, place: number): number =>
  Buffer.byteLength(lines.src.slice(beginOf(lines, line), place));

/** The offset of an item's marker, whose content starts at `content`. */
function markerBefore(lines: Lines, line: number, content: number | undefined): number {
  const begin = beginOf(lines, line);
  const inLine = content !== undefined && content >= begin && content <= endOf(lines, line);
  const before = lines.src.slice(begin, inLine ? content : endOf(lines, line)).trimEnd();
  const [marker = ''] = /(?:[-+*]|\d{1,9}[.)])$/.exec(before) ?? [];
  return begin + before.length - marker.length;
}

/** Sets the source position of each block. */
export function sayPositions({ src, tokens }: StateCore, starts: BlockStarts): void {
  const lines = linesOf(src);
  tokens.forEach((token: Token, index) => {
    if (!blocks.has(token.type) || token.hidden || !token.map) return;
    const [first, after] = token.map;
    const start =
      token.type === 'list_item_open'
        ? markerBefore(lines, first, starts.get(index + 1))
        : (starts.get(index) ?? beginOf(lines, first));
    const filled = lines.filled[after - 1] ?? first;
    const last =
      token.type === 'fence' || token.type === 'blockquote_open' ? after - 1 : Math.max(first, filled);
    const from = `${first + 1}:${bytesBefore(lines, first, start) + 1}`;
    const to = `${last + 1}:${bytesBefore(lines, last, endOf(lines, last))}`;
    token.attrs = [['data-sourcepos', `${from}-${to}`], ...(token.attrs ?? [])];
  });
}
