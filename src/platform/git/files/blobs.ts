/** The contents of files: small ones are read whole, large ones as a stream. */
import { createHash } from 'node:crypto';
import type { Readable } from 'node:stream';
import { Failure } from '../../failure.ts';
import { type GitFolder, MAX_OBJECT_BYTES, type ObjectInfo } from '../objects.ts';
import { streamGit } from '../program/long-runs.ts';

const MAX_WHOLE_BYTES = 4 * 1_048_576;

/** Whether a blob is streamed rather than read whole. */
export const isLarge = ({ size }: Pick<ObjectInfo, 'size'>): boolean => size > MAX_WHOLE_BYTES;

/** The bytes of a blob, from a process of its own. */
export const streamBlob = (git: GitFolder, oid: string): Readable =>
  streamGit(['cat-file', 'blob', oid], { folder: git.folder });

/** The SHA-256 of a blob's bytes, as hex; a large one is streamed, and a very large one is 422. */
export async function digestBlob(git: GitFolder, blob: ObjectInfo): Promise<string> {
  if (blob.size > MAX_OBJECT_BYTES) throw new Failure('unprocessable', 'The file is too large.');
  const digest = createHash('sha256');
  if (isLarge(blob)) for await (const chunk of streamBlob(git, blob.oid)) digest.update(chunk);
  else digest.update((await git.read(blob.oid))?.content ?? '');
  return digest.digest('hex');
}
