/** Locks: what programs ask of them, and who may remove one. Pure. */
import { Failure } from '../../../platform/failure.ts';
import { pathComponents } from '../../../platform/git/names.ts';
import type { RawValue } from '../../../platform/http/parameters/raw-parameters.ts';

/** Characters of a path that is locked. */
const MAX_PATH_LENGTH = 511;
const MAX_PAGE = 100;
/** Of a project. */
export const MAX_LOCKS = 5_000;

export const tooManyLocks = (): Failure =>
  new Failure('unprocessable', `A project has ${MAX_LOCKS} locks at most. Remove some that are not needed.`);

/** 422 for a path that no file has. */
export function requireLockPath(path: RawValue | undefined): string {
  if (typeof path !== 'string' || path.length > MAX_PATH_LENGTH || !pathComponents(path))
    throw new Failure(
      'unprocessable',
      `The path must be that of a file, of at most ${MAX_PATH_LENGTH} characters.`,
    );
  return path;
}

/** The number of an id, a cursor or a limit; undefined for a text that is none. */
export function numberIn(value: unknown): number | undefined {
  const text = typeof value === 'number' ? String(value) : value;
  return typeof text === 'string' && /^[0-9]{1,15}$/.test(text) ? Number(text) : undefined;
}

export type LockPage = { cursor: number; limit: number };

/** 422 for a cursor that no page ends with. */
export function requirePage(cursor: unknown, limit: unknown): LockPage {
  const start = cursor === undefined || cursor === null || cursor === '' ? 0 : numberIn(cursor);
  if (start === undefined)
    throw new Failure('unprocessable', 'The cursor must be the next_cursor of a page.');
  return { cursor: start, limit: Math.min(numberIn(limit) || MAX_PAGE, MAX_PAGE) };
}

export type Lock = {
  id: number;
  path: string;
  locked_at: Date;
  user_id: number;
  name: string;
  username: string;
};

/** Why the lock stays; undefined where it goes. */
export function unlockRefusal(
  { user_id: owner, path, username }: Lock,
  { userId, force, mayForce }: { userId: number; force: boolean; mayForce: boolean },
): string | undefined {
  if (owner === userId) return undefined;
  if (!force) return `${path} is locked by @${username}`;
  return mayForce ? undefined : 'You must have maintainer access to force delete a lock';
}

/** Why a change goes nowhere of which not all paths are known, where some are locked. */
export const TOO_MUCH_FOR_LOCKS = 'Too much is changed to tell what of it is locked in Git LFS.';
