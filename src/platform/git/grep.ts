/** Looks through the files of a tree: for a text in them, and for names. Bounded in time, in output and in how many look. */
import { createGate } from '../gate.ts';
import type { GitFolder } from './objects.ts';
import { decode } from './parse.ts';
import { type GitOptions, gitUnless } from './program.ts';

/** Lines that belong together: one or more that match, and those around them. */
export type Excerpt = {
  path: string;
  /** Of the first line; the first of a file is 1. */
  line: number;
  text: string;
};

/** Lines shown before and after one that matches. */
const AROUND = 2;
const MILLISECONDS = 15_000;
/** Bytes that git may write; what is beyond is not looked at. */
const MOST_EXCERPTS = 4 * 1_048_576;
const MOST_NAMES = 32 * 1_048_576;

/** Each keeps a processor busy for as long as it runs. */
const oneOfFew = createGate(2, 100, 'too many searches');

const search = (git: GitFolder, args: readonly string[], options: GitOptions): Promise<Buffer | undefined> =>
  oneOfFew(() =>
    gitUnless(1, args, { ...options, folder: git.folder, milliseconds: MILLISECONDS, cutOutput: true }),
  );

/** Places in the text files of a commit where a line has the text, in capitals or not; the text is no pattern. */
export async function grepFiles(git: GitFolder, commit: string, text: string): Promise<Excerpt[]> {
  const how = ['--threads=1', '-I', '-i', '-n', '--null', '--no-color', '--full-name', '--fixed-strings'];
  // On standard input each line would be a pattern of its own.
  const input = text.replaceAll(/[\r\n]+/g, ' ');
  const args = ['grep', ...how, `--context=${AROUND}`, '-f', '-', commit, '--'];
  const output = await search(git, args, { input, maximumOutput: MOST_EXCERPTS });
  return output ? parseExcerpts(output, commit) : [];
}

/** The paths of all files of a commit. */
export async function listFileNames(git: GitFolder, commit: string): Promise<string[]> {
  const args = ['ls-tree', '-r', '-z', '--name-only', '--full-tree', commit];
  const output = await search(git, args, { maximumOutput: MOST_NAMES });
  // The last is empty, or was cut off.
  return output ? output.toString('latin1').split('\0').slice(0, -1).map(readable) : [];
}

/** Bytes that were read as a letter each, as the text that they are: files have encodings of their own. */
const readable = (bytes: string): string => decode(Buffer.from(bytes, 'latin1'));

/** Reads what git wrote: `commit:path NUL number NUL text` for each line, and `--` between places. */
export function parseExcerpts(output: Buffer, commit: string): Excerpt[] {
  const excerpts: Excerpt[] = [];
  let current: Excerpt | undefined;
  // The last is empty, or was cut off.
  for (const line of output.toString('latin1').split('\n').slice(0, -1)) {
    const [place = '', number = '', ...rest] = line.split('\0');
    const path = place.slice(commit.length + 1);
    const isLine = place.startsWith(`${commit}:`) && /^\d+$/.test(number);
    // Whatever is none, as `--` is, ends a place.
    if (!isLine) {
      current = undefined;
      continue;
    }
    const text = `${rest.join('\0')}\n`;
    if (current?.path === path) current.text += text;
    else {
      current = { path, line: Number(number), text };
      excerpts.push(current);
    }
  }
  return excerpts.map(({ path, line, text }) => ({ path: readable(path), line, text: readable(text) }));
}
