/** Unpacks reports of a pipeline, a few pipelines at a time, and of each so much. */
import { pipeline } from 'node:stream/promises';
import { createGunzip } from 'node:zlib';
import type { Needs } from '../../../kernel/services.ts';
import type { Blobs } from '../../../platform/blobs/blobs.ts';
import { DocumentError } from '../../../platform/documents/xml.ts';
import { createShare } from '../../../platform/fair-share.ts';

/** Of all reports of a pipeline, unpacked. */
const MAX_BYTES = 33_554_432;

/** A report takes several times its size while it is read. */
const readings = createShare({
  of: 'reports that are read',
  places: 2,
  perCaller: 1,
  waitingPerCaller: 10,
  waiting: 100,
  timeoutMs: 10_000,
});

async function unpack(blobs: Blobs, sha256: Buffer, left: { bytes: number }): Promise<string> {
  const file = await blobs.open(sha256);
  if (!file) throw new DocumentError('the file is gone');
  const pieces: Buffer[] = [];
  await pipeline(file.stream(), createGunzip(), async (unpacked: AsyncIterable<Buffer>) => {
    for await (const piece of unpacked) {
      left.bytes -= piece.length;
      if (left.bytes < 0) throw new DocumentError('the reports of the pipeline are larger than 32 MiB');
      pieces.push(piece);
    }
  }).catch((error: unknown) => {
    const { code } = error as { code?: unknown };
    throw typeof code === 'string' && code.startsWith('Z_')
      ? new DocumentError('the file is not packed by gzip')
      : error;
  });
  return Buffer.concat(pieces).toString('utf8');
}

/** Reads the reports of a pipeline in its turn, by the text of each file, which throws DocumentError where there is none. */
export const readReports = <Result>(
  { blobs }: Needs<'blobs'>,
  read: (textOf: (sha256: Buffer) => Promise<string>) => Promise<Result>,
  signal: AbortSignal,
): Promise<Result> =>
  readings.run(() => {
    const left = { bytes: MAX_BYTES };
    return read((sha256) => {
      signal.throwIfAborted();
      return unpack(blobs, sha256, left);
    });
  }, signal);
