/** Looks through the files of a commit: for a text in them, and for names. Bounded in time, in output and in what is read. */
import { Failure } from '../failure.ts';
import { eachFile } from './listed-files.ts';
import type { GitFolder } from './objects.ts';
import { decode } from './parse.ts';
import { gitUnless } from './program.ts';

/** Lines that belong together: one or more that match, and those around them. */
export type Excerpt = {
  path: string;
  /** Of the first line; the first of a file is 1. */
  line: number;
  text: string;
};

/** Lines shown before and after one that matches. */
const AROUND = 2;
/** Bytes that git may write; what is beyond is not looked at. */
const MAX_OUTPUT_BYTES = 2 * 1_048_576;
/** Names that are found; nobody pages further. */
const MAX_NAMES = 5_000;
/** Larger files are found by their names only: people write none. */
const MAX_FILE_BYTES = 4 * 1_048_576;
/** All files together, each as often as it is there: more is not read in time. */
const MAX_TREE_BYTES = 4_096 * 1_048_576;
/** Names of large files that fit among the arguments of a program. */
const MAX_EXCLUDED_BYTES = 65_536;

export type Found = {
  /** Places in the text files where a line has the text, in capitals or not; the text is no pattern. */
  excerpts: Excerpt[];
  /** Paths that are wanted by their names. */
  names: string[];
};

/** Looks for a text in the files of a commit, and for names; 422 for a commit too large to be looked through. */
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
  // On standard input each line would be a pattern of its own.
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
