/** Reasons of failed moves, in words for the administrator who reads the record. Pure. */
import { Failure } from '../../../platform/failure.ts';
import { BadCopy } from '../../../platform/git/copies/check.ts';
import { GitError, NoRepository } from '../../../platform/git/program/program.ts';

/** A problem that the move itself found: its message is the reason. */
export class MoveProblem extends Error {}

const byCode: Record<string, string> = {
  ENOSPC: 'There is no space left on the destination.',
  EDQUOT: 'The quota of the destination is used up.',
  EROFS: 'The destination is read-only.',
  EIO: 'A disk failed to read or to write.',
};
const notWritable = new Set(['EACCES', 'EPERM', 'ENOTDIR', 'EEXIST', 'ENOTEMPTY', 'ELOOP', 'ENAMETOOLONG']);

/** The sentence for the error that ended a move. */
export function reasonOf(thrown: unknown): string {
  // A transaction turns errors into those for a client of the API; the cause is inside.
  const error = thrown instanceof Failure ? (thrown.details.cause ?? thrown) : thrown;
  if (error instanceof MoveProblem || error instanceof BadCopy) return error.message;
  if (error instanceof NoRepository) return 'The source has no repository that git can read.';
  if (error instanceof GitError)
    return `The source cannot be read: ${error.stderr.trim().split('\n')[0] ?? 'git says no more'}.`;
  if (!(error instanceof Error)) return `The move failed: ${String(error)}.`;
  const code = 'code' in error && typeof error.code === 'string' ? error.code : '';
  if (notWritable.has(code)) return `The destination cannot be written (${code}).`;
  return byCode[code] ?? `The move failed: ${error.message}`;
}
