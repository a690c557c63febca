/** Reads what is in an archive of a job, without unpacking it: its directory, and the bytes of one file. */
import type { Readable } from 'node:stream';
import type { Entry, ZipFile } from 'yauzl';
import {
  ArchiveError,
  asArchiveError,
  directories,
  findEntries,
  openEntry,
  tooMany,
  withZip,
} from '../../../platform/archives/zip-file.ts';
import type { OpenBlob } from '../../../platform/blobs/blob-store.ts';
import { Failure, notFound } from '../../../platform/failure.ts';

/** Of one file, unpacked. */
const LARGEST = { bytes: 1_073_741_824, text: '1 GiB' };

/** 422 for what is wrong with an archive; errors of the disk stay what they are. */
export function malformed(thrown: unknown): unknown {
  const error = asArchiveError(thrown);
  return error instanceof ArchiveError
    ? new Failure('unprocessable', `422 Unprocessable Entity - ${error.message}`, { cause: error })
    : error;
}

async function withArchive<T>(archive: OpenBlob | undefined, work: (zip: ZipFile) => Promise<T>): Promise<T> {
  if (!archive) throw notFound();
  return withZip(archive, work).catch((error: unknown) => {
    throw malformed(error);
  });
}

export type ArchivedFile = { size: number; stream: Readable };

/**
 * The file of this path. 404 without one; 422 for an archive that is none, for a link, what is encrypted or packed in an
 * unknown way, and what is larger than a gibibyte. A file that is not as long as it says ends with an error.
 */
export const openArchived = (archive: OpenBlob | undefined, path: string): Promise<ArchivedFile> =>
  withArchive(archive, async (zip) => {
    const [entry] = await findEntries(zip, (each) => each === path, 1);
    if (!entry) throw notFound();
    return { size: entry.uncompressedSize, stream: await openEntry(zip, entry, LARGEST) };
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
          throw new ArchiveError(`the archive has more than ${MAX_DEPTH} folders above one another`);
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
        if (length > MAX_LISTED_LENGTH) throw new ArchiveError('the paths in the archive are too long');
      }
    } finally {
      release();
    }
    if (!isThere) throw notFound();
    return [...listed.values()].sort((one, other) => (one.path < other.path ? -1 : 1));
  });
