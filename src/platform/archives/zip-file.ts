/** Reads a zip file without unpacking it: its directory, and the bytes of one file. */
import { once } from 'node:events';
import { open } from 'node:fs/promises';
import { PassThrough, pipeline, type Readable } from 'node:stream';
import yauzl, { type Entry, type ZipFile } from 'yauzl';
import { asBlob, type OpenBlob } from '../blobs/blob-store.ts';
import { Failure } from '../failure.ts';
import { createShare } from '../fair-share.ts';
import { WindowReader } from './zip-reader.ts';

/** What is wrong with an archive: the message says it. */
export class ArchiveError extends Error {}

/** Entries of one archive: its directory is read from the beginning for each request. */
const MAX_ENTRIES = 200_000;
const MAX_REASON_LENGTH = 200;

/** Directories are read by the event loop, in pieces of some milliseconds. */
export const directories = createShare({
  of: 'archives that are read',
  places: 4,
  perCaller: 2,
  waitingPerCaller: 20,
  waiting: 200,
  timeoutMs: 10_000,
});

export const tooMany = (most: number): ArchiveError =>
  new ArchiveError(`the archive has more than ${most.toLocaleString('en')} entries`);

/** ArchiveError for what the reader found wrong; errors of the disk stay what they are. */
export const asArchiveError = (error: unknown): unknown =>
  error instanceof Failure || error instanceof ArchiveError || !(error instanceof Error) || 'syscall' in error
    ? error
    : new ArchiveError(`the archive cannot be read: ${error.message.slice(0, MAX_REASON_LENGTH)}`, {
        cause: error,
      });

const typeOf = ({ externalFileAttributes }: Entry): number => (externalFileAttributes >>> 16) & 0o170000;
const SYMLINK = 0o120000;
const REGULAR = 0o100000;

/**
 * Runs `work` over the archive; what it gives back may go on reading, and the blob is closed with that. ArchiveError for what is
 * no archive.
 */
export async function withZip<T>(archive: OpenBlob, work: (zip: ZipFile) => Promise<T>): Promise<T> {
  const reader = new WindowReader(archive);
  const zip = await yauzl
    .fromRandomAccessReaderPromise(reader, archive.size, { autoClose: false })
    .catch(async (error) => {
      await archive.close();
      throw asArchiveError(error);
    });
  zip.on('error', () => undefined);
  try {
    if (zip.entryCount > MAX_ENTRIES) throw tooMany(MAX_ENTRIES);
    return await work(zip);
  } catch (error) {
    throw asArchiveError(error);
  } finally {
    zip.close();
  }
}

/** The same over a file; an error of the disk where there is none. */
export const withZipFile = async <T>(path: string, work: (zip: ZipFile) => Promise<T>): Promise<T> =>
  withZip(await asBlob(await open(path)), work);

/** The first entries that are wanted, as many as that. */
export async function findEntries(
  zip: ZipFile,
  isWanted: (path: string) => boolean,
  most: number,
): Promise<Entry[]> {
  const found: Entry[] = [];
  const release = await directories.take();
  try {
    for await (const entry of zip.eachEntry()) {
      if (isWanted(entry.fileName)) found.push(entry);
      if (found.length >= most) break;
    }
  } finally {
    release();
  }
  return found;
}

/**
 * The bytes of an entry. ArchiveError for a link, what is encrypted or packed in an unknown way, and what is larger; a file that is not
 * as long as it says ends with an error.
 */
export async function openEntry(
  zip: ZipFile,
  entry: Entry,
  largest: { bytes: number; text: string },
): Promise<Readable> {
  const type = typeOf(entry);
  if (type === SYMLINK) throw new ArchiveError('the file is a symbolic link');
  if (type !== 0 && type !== REGULAR) throw new ArchiveError('this is no file');
  if (entry.isEncrypted()) throw new ArchiveError('the file is encrypted');
  if (!entry.canDecodeFileData()) throw new ArchiveError('the file is packed in a way that is not known');
  if (entry.uncompressedSize > largest.bytes)
    throw new ArchiveError(`the file is larger than ${largest.text}`);
  const content = await zip.openReadStreamPromise(entry);
  // Ends with its reader, and with an error of the archive.
  const stream = pipeline(content, new PassThrough(), () => undefined);
  // What is wrong from the beginning is said before the answer begins.
  await once(stream, 'readable');
  return stream;
}
