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

/** Bytes of the list: of tens of thousands of files. */
const MAX_LIST_BYTES = 4 * 1_048_576;

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
