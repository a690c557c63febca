/** The id of a change: the same wherever the change is made again. */
import { Failure } from '../../failure.ts';
import { gitInTime, textInTime } from '../program/long-runs.ts';
import type { DiffEnds } from './diff-runs.ts';
import type { ObjectFolder } from './history.ts';

/** Bytes of a patch; it is in memory between two runs of git. */
const MAX_PATCH_BYTES = 16 * 1_048_576;

/**
 * The patch id of the change from one tree or commit to another, line numbers left out and white space not:
 * moving a change elsewhere keeps it, and indenting it does not. Undefined for no change, and for one that is
 * too large to tell.
 */
export async function patchIdOf(place: ObjectFolder, { from, to }: DiffEnds): Promise<string | undefined> {
  const args = [
    'diff-tree',
    '-r',
    '-p',
    '-M',
    '--full-index',
    '--no-ext-diff',
    '--no-textconv',
    '--no-color',
  ];
  try {
    const patch = await gitInTime([...args, from, to, '--'], { ...place, maximumOutput: MAX_PATCH_BYTES });
    if (patch.length === 0) return undefined;
    const text = await textInTime(['patch-id', '--verbatim'], { input: patch });
    return text.split(' ')[0] || undefined;
  } catch (error) {
    if (error instanceof Failure && error.kind === 'unprocessable') return undefined;
    throw error;
  }
}
