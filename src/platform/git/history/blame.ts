/** The commit of each line of a file. */
import { setImmediate as nextTurn } from 'node:timers/promises';
import { Failure } from '../../failure.ts';
import { decode } from '../parse.ts';
import { gitInTime } from '../program/long-runs.ts';
import { GitError } from '../program/program.ts';

export type LineRange = { start: number; end: number };
/** Consecutive lines of one commit. */
export type BlamedLines = { commit: string; lines: string[] };

const MAX_OUTPUT_BYTES = 16 * 1_048_576;
/** Bytes parsed between two yields to the event loop, some milliseconds. */
const BYTES_PER_TURN = 262_144;

/** The file's lines at the commit, in order; undefined for a range that begins after the end. */
export async function blame(
  folder: string,
  commit: string,
  path: string,
  range?: LineRange,
): Promise<BlamedLines[] | undefined> {
  const lines = range ? ['-L', `${range.start},${range.end}`] : [];
  const args = ['blame', '--porcelain', ...lines, commit, '--', path];
  try {
    return await parseBlame(await gitInTime(args, { folder, maximumOutput: MAX_OUTPUT_BYTES }));
  } catch (error) {
    if (!(error instanceof GitError)) throw error;
    if (/has only \d+ lines?/.test(error.stderr)) return undefined;
    // A name in another encoding cannot be an argument.
    if (/no such path/.test(error.stderr))
      throw new Failure('unprocessable', 'The name of the file is not UTF-8.');
    throw error;
  }
}

const heading = /^([0-9a-f]{40,64}) \d+ \d+( \d+)?$/;

/** Parses `git blame --porcelain`: a header for each line, and the line itself after a tab. */
export async function parseBlame(output: Buffer): Promise<BlamedLines[]> {
  const found: BlamedLines[] = [];
  let commit = '';
  let turn = BYTES_PER_TURN;
  for (let at = 0; at < output.length; ) {
    if (at > turn) {
      await nextTurn();
      turn = at + BYTES_PER_TURN;
    }
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
