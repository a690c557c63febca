/** Reads what is in an archive of a job, without unpacking it: its directory, and the bytes of one file. */
import { once } from 'node:events';
import { PassThrough, pipeline, type Readable } from 'node:stream';
import yauzl, { type Entry, type ZipFile } from 'yauzl';
import type { OpenBlob } from '../../../platform/blobs/blobs.ts';
import { Failure, notFound } from '../../../platform/failure.ts';
import { createShare } from '../../../platform/fair-share.ts';
import { WindowReader } from './zip-reader.ts';

/** Entries of one archive: its directory is read from the beginning for each request. */
const MAX_ENTRIES = 200_000;
/** Bytes of one file, unpacked. */
const MAX_FILE_BYTES = 1_073_741_824;
const MAX_REASON_LENGTH = 200;

/** Directories are read by the event loop, in pieces of some milliseconds. */
const directories = createShare({
  of: 'archives that are read',
  places: 4,
  perCaller: 2,
  waitingPerCaller: 20,
  waiting: 200,
  timeoutMs: 10_000,
});

const unreadable = (reason: string, cause?: unknown): Failure =>
  new Failure('unprocessable', `422 Unprocessable Entity - ${reason}`, { cause });
const tooMany = (most: number): Failure =>
  unreadable(`the archive has more than ${most.toLocaleString('en')} entries`);
/** Errors of the disk stay what they are. */
export const malformed = (error: unknown): unknown =>
  error instanceof Failure || !(error instanceof Error) || 'syscall' in error
    ? error
    : unreadable(`the archive cannot be read: ${error.message.slice(0, MAX_REASON_LENGTH)}`, error);

const typeOf = ({ externalFileAttributes }: Entry): number => (externalFileAttributes >>> 16) & 0o170000;
const SYMLINK = 0o120000;
const REGULAR = 0o100000;

/** Runs `work` over the open archive; what it gives back may go on reading, and the file is closed with that. */
async function withArchive<T>(archive: OpenBlob | undefined, work: (zip: ZipFile) => Promise<T>): Promise<T> {
  if (!archive) throw notFound();
  const reader = new WindowReader(archive);
  const zip = await yauzl
    .fromRandomAccessReaderPromise(reader, archive.size, { autoClose: false })
    .catch(async (error) => {
      await archive.close();
      throw malformed(error);
    });
  zip.on('error', () => undefined);
  try {
    if (zip.entryCount > MAX_ENTRIES) throw tooMany(MAX_ENTRIES);
    return await work(zip);
  } catch (error) {
    throw malformed(error);
  } finally {
    zip.close();
  }
}

async function findEntry(zip: ZipFile, path: string): Promise<Entry> {
  const release = await directories.take();
  try {
    for await (const entry of zip.eachEntry()) if (entry.fileName === path) return entry;
  } finally {
    release();
  }
  throw notFound();
}

export type ArchivedFile = { size: number; stream: Readable };

/**
 * The file of this path. 404 without one; 422 for an archive that is none, for a link, what is encrypted or packed in an
 * unknown way, and what is larger than a gibibyte. A file that is not as long as it says ends with an error.
 */
export const openArchived = (archive: OpenBlob | undefined, path: string): Promise<ArchivedFile> =>
  withArchive(archive, async (zip) => {
    const entry = await findEntry(zip, path);
    const type = typeOf(entry);
    if (type === SYMLINK) throw unreadable('the file is a symbolic link');
    if (type !== 0 && type !== REGULAR) throw unreadable('this is no file');
    if (entry.isEncrypted()) throw unreadable('the file is encrypted');
    if (!entry.canDecodeFileData()) throw unreadable('the file is packed in a way that is not known');
    if (entry.uncompressedSize > MAX_FILE_BYTES) throw unreadable('the file is larger than 1 GiB');
    const content = await zip.openReadStreamPromise(entry);
    // Ends with its reader, and with an error of the archive.
    const stream = pipeline(content, new PassThrough(), () => undefined);
    // What is wrong from the beginning is said before the answer begins.
    await once(stream, 'readable');
    return { size: entry.uncompressedSize, stream };
  });

export type ArchiveEntry = {
  name: string;
  path: string;
  type: 'file' | 'directory';
  size: number;
  mode: string;
};

/** Folders above one another. */
const MAX_DEPTH = 100;
/** Entries that are listed: they are put in order in one go. */
const MAX_LISTED = 50_000;
/** Characters of all paths that are listed: a few names may have thousands of folders between them. */
const MAX_LISTED_LENGTH = 16_777_216;

/** What an entry says of itself; folders need none, and have the usual mode then. */
function entryAt(path: string, entry: Entry | undefined): ArchiveEntry {
  const isFolder = entry === undefined || entry.fileName.endsWith('/');
  const mode = entry ? entry.externalFileAttributes >>> 16 : 0;
  return {
    name: path.slice(path.lastIndexOf('/') + 1),
    path,
    type: isFolder ? 'directory' : 'file',
    size: isFolder ? 0 : entry.uncompressedSize,
    mode: (mode || (isFolder ? 0o040755 : 0o100644)).toString(8).padStart(6, '0'),
  };
}

/**
 * What is in a folder of the archive, all of it for an empty path, by its path; with what is below it where it is `recursive`. 404
 * without such a folder, 422 for an archive that is none.
 */
export const listArchive = (
  archive: OpenBlob | undefined,
  folder: string,
  recursive: boolean,
): Promise<ArchiveEntry[]> =>
  withArchive(archive, async (zip) => {
    const inside = folder === '' ? '' : `${folder}/`;
    const listed = new Map<string, ArchiveEntry>();
    let isThere = folder === '';
    let length = 0;
    const release = await directories.take();
    try {
      for await (const entry of zip.eachEntry()) {
        if (!entry.fileName.startsWith(inside)) continue;
        isThere = true;
        const parts = entry.fileName.slice(inside.length).split('/').filter(Boolean);
        if (parts.length > MAX_DEPTH)
          throw unreadable(`the archive has more than ${MAX_DEPTH} folders above one another`);
        for (let depth = recursive ? parts.length : Math.min(1, parts.length); depth > 0; depth -= 1) {
          const path = `${inside}${parts.slice(0, depth).join('/')}`;
          const isItself = depth === parts.length;
          const isKnown = listed.has(path);
          // The folders around it are known then, too.
          if (isKnown && !isItself) break;
          if (!isKnown) length += path.length;
          listed.set(path, entryAt(path, isItself ? entry : undefined));
        }
        if (listed.size > MAX_LISTED) throw tooMany(MAX_LISTED);
        if (length > MAX_LISTED_LENGTH) throw unreadable('the paths in the archive are too long');
      }
    } finally {
      release();
    }
    if (!isThere) throw notFound();
    return [...listed.values()].sort((one, other) => (one.path < other.path ? -1 : 1));
  });
