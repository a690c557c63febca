/** Who wrote each line of a file. */
import { Failure } from '../failure.ts';
import { gitInTime } from './long-runs.ts';
import { decode } from './parse.ts';
import { GitError } from './program.ts';

export type LineRange = { start: number; end: number };
/** Lines that follow each other and came with one commit. */
export type BlamedLines = { commit: string; lines: string[] };

/** It is taken apart at once, while everybody waits. */
const MAX_OUTPUT_BYTES = 16 * 1_048_576;

/** The file's lines at the commit, in order; of the range only, or undefined where that begins behind the end. */
export async function blame(
  folder: string,
  commit: string,
  path: string,
  range?: LineRange,
): Promise<BlamedLines[] | undefined> {
  const lines = range ? ['-L', `${range.start},${range.end}`] : [];
  const args = ['blame', '--porcelain', ...lines, commit, '--', path];
  try {
    return parseBlame(await gitInTime(args, { folder, maximumOutput: MAX_OUTPUT_BYTES }));
  } catch (error) {
    if (!(error instanceof GitError)) throw error;
    if (/has only \d+ lines?/.test(error.stderr)) return undefined;
    // A name in another encoding than ours cannot be given to a program.
    if (/no such path/.test(error.stderr))
      throw new Failure('unprocessable', 'The name of the file is not UTF-8.');
    throw error;
  }
}

const heading = /^([0-9a-f]{40,64}) \d+ \d+( \d+)?$/;

/** Takes `git blame --porcelain` apart: a heading for each line, and the line itself behind a tab. */
export function parseBlame(output: Buffer): BlamedLines[] {
  const found: BlamedLines[] = [];
  let commit = '';
  for (let at = 0; at < output.length; ) {
    const newline = output.indexOf(10, at);
    const end = newline < 0 ? output.length : newline;
    if (output[at] === 9) {
      const line = decode(output.subarray(at + 1, end));
      const last = found.at(-1);
      if (last?.commit === commit) last.lines.push(line);
      else found.push({ commit, lines: [line] });
    } else commit = heading.exec(output.toString('latin1', at, Math.min(end, at + 128)))?.[1] ?? commit;
    at = end + 1;
  }
  return found;
}
