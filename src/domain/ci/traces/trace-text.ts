/** A trace as a text that people read. Pure. */

/** Colours and what else moves a terminal, and the marks of sections, which the runner writes. */
const signs =
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for.
  /\x1b\[[0-9;?]*[A-Za-z]|section_(?:start|end):\d+:[\w.-]+(?:\[[^\]\r\n]{0,200}\])?\r?/g;

/** The text without the signs for terminals; of a line that was written over, what was written last. */
export const traceText = (trace: string): string =>
  trace.replaceAll(signs, '').split('\n').map(lastWritten).join('\n');

function lastWritten(line: string): string {
  let end = line.length;
  while (line.charAt(end - 1) === '\r') end--;
  return line.slice(end === 0 ? 0 : line.lastIndexOf('\r', end - 1) + 1, end);
}
