/** The files that differ between two trees, without their contents. */
import { Failure } from '../../failure.ts';
import { decode } from '../parse.ts';
import { gitInTime } from '../program/long-runs.ts';
import type { DiffEnds } from './diff-runs.ts';
import type { ObjectFolder } from './history.ts';

export type ChangedFiles = {
  /** Modes and ids of what each file was and is, by its path; a renamed file is one that went and one that came. */
  files: ReadonlyMap<string, string>;
  /** False where more differ than are listed. */
  isComplete: boolean;
};

/** Bytes of a list of files: of tens of thousands. */
export const MAX_LIST_BYTES = 4 * 1_048_576;

/** Lists the files that differ, as far as that is possible in time. */
export async function changedFiles(place: ObjectFolder, { from, to }: DiffEnds): Promise<ChangedFiles> {
  const args = ['diff-tree', '-r', '--raw', '-z', '--no-renames', '--no-abbrev', from, to, '--'];
  const options = { ...place, maximumOutput: MAX_LIST_BYTES, cutOutput: true };
  try {
    const output = await gitInTime(args, options);
    const files = parseRaw(output);
    return { files, isComplete: output.length < MAX_LIST_BYTES };
  } catch (error) {
    if (error instanceof Failure && error.kind === 'unprocessable')
      return { files: new Map(), isComplete: false };
    throw error;
  }
}

/** `:modes ids status`, NUL, path, NUL; a last entry may be cut. */
function parseRaw(output: Buffer): Map<string, string> {
  const files = new Map<string, string>();
  for (let at = 0; ; ) {
    const ofChange = output.indexOf(0, at);
    const ofPath = ofChange < 0 ? -1 : output.indexOf(0, ofChange + 1);
    if (ofPath < 0) return files;
    files.set(
      decode(output.subarray(ofChange + 1, ofPath)),
      output.subarray(at, ofChange).toString('latin1'),
    );
    at = ofPath + 1;
  }
}

/** Paths by what became of them; a renamed file is one that went and one that came. */
export type ChangedPaths = { added: string[]; modified: string[]; removed: string[] };

/** The paths that differ between each pair of trees, by one run of git, as far as they are listed: the list is bounded. */
export async function changedPaths(place: ObjectFolder, pairs: readonly DiffEnds[]): Promise<ChangedPaths[]> {
  const changes = pairs.map((): ChangedPaths => ({ added: [], modified: [], removed: [] }));
  if (pairs.length === 0) return changes;
  const input = pairs.map(({ from, to }) => `${from} ${to}\n`).join('');
  const args = ['diff-tree', '--stdin', '-r', '--name-status', '-z', '--no-renames'];
  const output = await gitInTime(args, { ...place, input, maximumOutput: MAX_LIST_BYTES, cutOutput: true });
  let pair = -1;
  for (let at = 0; ; ) {
    const end = output.indexOf(0, at);
    if (end < 0) return changes;
    // A line for each pair that begins stands before the letter.
    const lines = output.toString('latin1', at, end).split('\n');
    const letter = lines.at(-1);
    pair += lines.length - 1;
    const ofPath = output.indexOf(0, end + 1);
    if (ofPath < 0) return changes;
    const path = decode(output.subarray(end + 1, ofPath));
    at = ofPath + 1;
    changes[pair]?.[letter === 'A' ? 'added' : letter === 'D' ? 'removed' : 'modified'].push(path);
  }
}

/** Bytes of paths that one run of git is given. */
const MAX_ASKED_BYTES = 262_144;

/** In runs of git that take so much. */
function portions(paths: readonly string[]): string[][] {
  const found: string[][] = [];
  let room = 0;
  for (const path of paths) {
    const length = Buffer.byteLength(path) + 1;
    if (length > room) found.push([]);
    room = (length > room ? MAX_ASKED_BYTES : room) - length;
    found.at(-1)?.push(path);
  }
  return found;
}

/** Pairs whose commits to which they lead are all different: git names these alone. */
function withHeadsOfTheirOwn(pairs: readonly DiffEnds[]): Map<string, DiffEnds>[] {
  const rounds: Map<string, DiffEnds>[] = [];
  for (const pair of pairs) {
    const round = rounds.find((each) => !each.has(pair.to));
    if (round) round.set(pair.to, pair);
    else rounds.push(new Map([[pair.to, pair]]));
  }
  return rounds;
}

/**
 * Of these paths of files, those that differ between the commits of each pair; all of them, where that cannot be told in time and
 * room.
 */
export async function changedAmong(
  place: ObjectFolder,
  pairs: readonly DiffEnds[],
  paths: readonly string[],
): Promise<ReadonlyMap<DiffEnds, ReadonlySet<string>>> {
  const changed = new Map(pairs.map((pair) => [pair, new Set<string>()]));
  const asked = new Set(paths);
  const form = ['--stdin', '-r', '--name-status', '-z', '--no-renames', '--'];
  for (const round of withHeadsOfTheirOwn(pairs.filter(({ from, to }) => from !== to)))
    for (const portion of portions(paths)) {
      const input = [...round.values()].map(({ from, to }) => `${to} ${from}\n`).join('');
      const options = { ...place, input, maximumOutput: MAX_LIST_BYTES, cutOutput: true };
      const args = ['--literal-pathspecs', 'diff-tree', ...form, ...portion];
      const output = await gitInTime(args, options).catch((error: unknown) => {
        if (error instanceof Failure && error.kind === 'unprocessable') return undefined;
        throw error;
      });
      const isWhole = output !== undefined && output.length < MAX_LIST_BYTES;
      for (const pair of isWhole ? [] : round.values())
        for (const path of portion) changed.get(pair)?.add(path);
      // A commit stands before its files, and a letter before each of them.
      let head: string | undefined;
      const texts = isWhole ? decode(output).split('\0').values() : [].values();
      for (const text of texts)
        if (text.length > 1) head = text;
        else if (text !== '') {
          const path = texts.next().value ?? '';
          const pair = round.get(head ?? '');
          // git lists what is below a path, too.
          if (pair && asked.has(path)) changed.get(pair)?.add(path);
        }
    }
  return changed;
}
