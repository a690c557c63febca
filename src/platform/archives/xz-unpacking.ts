/** Asks for xz to be unpacked: one archive after the other, in a thread of its own. */
import { extname } from 'node:path';
import { holdForRequest } from '../fair-share.ts';
import { createThreads } from '../threads.ts';
import type { UnpackedXz, XzToUnpack } from './xz-thread.ts';
import { ArchiveError } from './zip-file.ts';

const unpacking = createThreads<XzToUnpack, UnpackedXz>({
  file: new URL(`./xz-thread${extname(import.meta.url)}`, import.meta.url),
  share: {
    of: 'archives to unpack',
    places: 1,
    perCaller: 1,
    waitingPerCaller: 20,
    waiting: 100,
    timeoutMs: 60_000,
  },
  memoryMb: 64,
});
/** Of one archive; 16 MiB come out in a second. */
const TIMEOUT_MS = 10_000;

/** What comes out, at most so many bytes. ArchiveError for what is no xz, or takes too long; 429 and 503 as of a share. */
export async function unpackXzInThread(
  packed: Buffer,
  maximum: number,
  timeoutMs = TIMEOUT_MS,
): Promise<Buffer> {
  // It waits with its request.
  holdForRequest(packed.length);
  const unpacked = await unpacking.ask({ packed, maximum }, timeoutMs);
  if (!unpacked) throw new ArchiveError('packed so that it takes too long to unpack');
  if ('refusal' in unpacked) throw new ArchiveError(unpacked.refusal);
  return Buffer.from(unpacked.bytes.buffer);
}
