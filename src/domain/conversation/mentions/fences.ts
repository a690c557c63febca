/** Fenced code of Markdown, in time linear in the text (CommonMark 4.5; fences in lists and quotes are not looked for). Pure. */

const fence = /^( {0,3})(`{3,}|~{3,})(.*)$/s;

/** The numbers of its fences, from 0; the closing one is the number of lines where there is none. */
type FencedBlock = { open: number; close: number; indent: number; info: string };

/** Code in backticks may begin its line: then it ends there as well. */
const opensFence = (mark: string, info: string): boolean => !mark.startsWith('`') || !info.includes('`');

/** Whether the line may be a fence by its first character: a text may have a million that are none. */
const mayBeFence = (line: string): boolean => ' `~'.includes(line.charAt(0)) && line !== '';

function* findBlocks(lines: readonly string[]): Generator<FencedBlock> {
  let current: (FencedBlock & { mark: string }) | undefined;
  for (let at = 0; at < lines.length; at++) {
    const line = lines[at] ?? '';
    if (!mayBeFence(line)) continue;
    const [, indent = '', mark = '', info = ''] = fence.exec(line) ?? [];
    if (mark === '') continue;
    if (!current) {
      if (!opensFence(mark, info)) continue;
      current = { open: at, close: lines.length, indent: indent.length, info: info.trim(), mark };
    } else if (mark.startsWith(current.mark) && info.trim() === '') {
      yield { ...current, close: at };
      current = undefined;
    }
  }
  if (current) yield current;
}

/** For each line, whether it is in fenced code, or a fence itself. */
export function fencedLines(lines: readonly string[]): boolean[] {
  const fenced = lines.map(() => false);
  for (const { open, close } of findBlocks(lines)) fenced.fill(true, open, close + 1);
  return fenced;
}

/** As many spaces less as its fence has. */
function unindented(line: string, indent: number): string {
  let from = 0;
  while (from < indent && line.charAt(from) === ' ') from += 1;
  return line.slice(from);
}

/** The lines of each fenced block whose info string is wanted, without its fences; found as they are asked for. */
export function* fencedBlocks(
  lines: readonly string[],
  isWanted: (info: string) => boolean,
): Generator<{ info: string; lines: string[] }> {
  for (const { open, close, indent, info } of findBlocks(lines))
    if (isWanted(info))
      yield { info, lines: lines.slice(open + 1, close).map((line) => unindented(line, indent)) };
}
