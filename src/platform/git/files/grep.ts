/** Searches the files of a commit by content and name. Bounded in time, output and input. */
import { Failure } from '../../failure.ts';
import type { GitFolder } from '../objects.ts';
import { decode } from '../parse.ts';
import { gitUnless } from '../program/program.ts';
import { eachFile } from './listed-files.ts';

/** Consecutive lines: one or more matches, and their context. */
export type Excerpt = {
  path: string;
  /** The number of the first line; a file starts at 1. */
  line: number;
  text: string;
};

/** Context lines before and after a match. */
const AROUND = 2;
/** Bytes of git's output; the rest is ignored. */
const MAX_OUTPUT_BYTES = 2 * 1_048_576;
/** Maximum of names found; no client pages further. */
const MAX_NAMES = 5_000;
/** Larger files are found by name only: they are generated. */
const MAX_FILE_BYTES = 4 * 1_048_576;
/** Sum of all files, each as often as it occurs: more cannot be read in time. */
const MAX_TREE_BYTES = 4_096 * 1_048_576;
/** Bytes of names of large files that fit among a program's arguments. */
const MAX_EXCLUDED_BYTES = 65_536;

export type Found = {
  /** Excerpts of text files with lines that contain the text, case-insensitively; the text is no pattern. */
  excerpts: Excerpt[];
  /** Paths whose names match. */
  names: string[];
};

/** Searches the files of a commit for a text, and their names; 422 for a commit too large to search. */
export async function findInFiles(
  git: GitFolder,
  commit: string,
  text: string,
  isWanted: (path: string) => boolean,
): Promise<Found> {
  const names: string[] = [];
  const large: string[] = [];
  let bytes = 0;
  await eachFile(git, commit, ({ path, size }) => {
    if (names.length < MAX_NAMES && isWanted(path)) names.push(path);
    if (size > MAX_FILE_BYTES) large.push(path);
    else bytes += size;
  });
  if (text === '') return { excerpts: [], names };
  if (bytes > MAX_TREE_BYTES || Buffer.byteLength(large.join()) > MAX_EXCLUDED_BYTES)
    throw new Failure('unprocessable', 'The files of this commit are too large to be searched.');
  return { excerpts: await grepFiles(git, commit, text, large), names };
}

async function grepFiles(
  git: GitFolder,
  commit: string,
  text: string,
  excluded: readonly string[],
): Promise<Excerpt[]> {
  const how = ['--threads=1', '-I', '-i', '-n', '--null', '--no-color', '--full-name', '--fixed-strings'];
  // On standard input each line would be a separate pattern.
  const input = text.replaceAll(/[\r\n]+/g, ' ');
  const paths = excluded.map((path) => `:(exclude,literal)${path}`);
  const args = ['grep', ...how, `--context=${AROUND}`, '-f', '-', commit, '--', ...paths];
  const output = await gitUnless(1, args, {
    folder: git.folder,
    kind: 'long',
    input,
    maximumOutput: MAX_OUTPUT_BYTES,
    cutOutput: true,
  });
  return output ? parseExcerpts(output, commit) : [];
}

/** Decodes bytes that were read as latin1: files have encodings of their own. */
const readable = (bytes: string): string => decode(Buffer.from(bytes, 'latin1'));

/** Parses git's output: `commit:path NUL number NUL text` per line, and `--` between excerpts. */
export function parseExcerpts(output: Buffer, commit: string): Excerpt[] {
  const excerpts: Excerpt[] = [];
  let current: Excerpt | undefined;
  // The last line is empty, or truncated.
  for (const line of output.toString('latin1').split('\n').slice(0, -1)) {
    const [place = '', number = '', ...rest] = line.split('\0');
    const path = place.slice(commit.length + 1);
    const isLine = place.startsWith(`${commit}:`) && /^\d+$/.test(number);
    // Any other line, such as `--`, ends an excerpt.
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
