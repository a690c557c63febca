/** Finds the control file in a Debian package, an archive of `ar`, in bounded time and memory (deb(5)). */
import { open } from 'node:fs/promises';
import { promisify } from 'node:util';
import { constants, gunzip, zstdDecompress } from 'node:zlib';
import { tarMembers } from '../../../platform/archives/tar.ts';
import { unpackXzInThread } from '../../../platform/archives/xz-unpacking.ts';
import { ArchiveError } from '../../../platform/archives/zip-file.ts';
import { badRequest, Failure } from '../../../platform/failure.ts';
import { takeTurns } from '../../../platform/turns.ts';

const MAGIC = '!<arch>\n';
const HEADER = 60;
/** What is before the control archive: its version, and what others put there. */
const MAX_MEMBERS = 10;
/** Of the control archive, packed and unpacked, and of the control file. */
const MAX_PACKED = 4_194_304;
const MAX_UNPACKED = 16_777_216;
const MAX_CONTROL = 262_144;
const PIECE = 65_536;
/** 8 MiB, as `zstd` needs at its default level; it would take more for what is refused afterwards. */
const WINDOW_LOG = 23;

const [unpackGzip, unpackZstd] = [promisify(gunzip), promisify(zstdDecompress)];

const unpackers: Readonly<Record<string, (packed: Buffer) => Promise<Buffer>>> = {
  '': async (packed) => packed,
  '.gz': (packed) => unpackGzip(packed, { maxOutputLength: MAX_UNPACKED }),
  '.xz': (packed) => unpackXzInThread(packed, MAX_UNPACKED),
  '.zst': (packed) =>
    unpackZstd(packed, {
      maxOutputLength: MAX_UNPACKED,
      params: { [constants.ZSTD_d_windowLogMax]: WINDOW_LOG },
    }),
};

/** Bytes from a place on; fewer only at the end. */
type Read = (position: number, length: number) => Promise<Buffer>;

/** The control archive, packed, and how. */
async function controlArchive(read: Read): Promise<{ packed: Buffer; ending: string }> {
  if ((await read(0, MAGIC.length)).toString('latin1') !== MAGIC)
    throw new ArchiveError('not a Debian package');
  let at = MAGIC.length;
  for (let member = 0; member < MAX_MEMBERS; member++) {
    const header = (await read(at, HEADER)).toString('latin1');
    const name = header.slice(0, 16).replace(/\/? *$/, '');
    const size = header.slice(48, 58).trimEnd();
    if (!/^\d{1,10}$/.test(size) || header.slice(58) !== '`\n')
      throw new ArchiveError('not a Debian package');
    const length = Number(size);
    if (name.startsWith('control.tar')) {
      if (length > MAX_PACKED) throw new ArchiveError(`a package whose ${name} is too large`);
      const packed = await read(at + HEADER, length);
      if (packed.length < length) throw new ArchiveError('not a whole Debian package');
      return { packed, ending: name.slice('control.tar'.length) };
    }
    at += HEADER + length + (length & 1);
  }
  throw new ArchiveError('a package without a control archive');
}

/** The control file of an open package. ArchiveError for what is none. */
export async function controlIn(read: Read): Promise<string> {
  const { packed, ending } = await controlArchive(read);
  const unpack = unpackers[ending];
  if (!unpack) throw new ArchiveError(`packed otherwise than by gzip, xz or zstd: control.tar${ending}`);
  const archive = await unpack(packed).catch((error: unknown) => {
    if (error instanceof ArchiveError || error instanceof Failure) throw error;
    throw new ArchiveError(`not packed as control.tar${ending} says, or too large when it is unpacked`);
  });
  for await (const { name, size, isFile, read: content } of tarMembers(piecesOf(archive), MAX_UNPACKED)) {
    if (!isFile || !/^(?:\.\/)?control$/.test(name)) continue;
    if (size > MAX_CONTROL) throw new ArchiveError('a package whose control file is too large');
    return (await content()).toString('utf8');
  }
  throw new ArchiveError('a package without a control file');
}

/** With turns between them: there may be ten thousands of members. */
async function* piecesOf(bytes: Buffer): AsyncGenerator<Buffer> {
  const turn = takeTurns();
  for (let at = 0; at < bytes.length; at += PIECE) {
    await turn();
    yield bytes.subarray(at, at + PIECE);
  }
}

/** The same of a file on disk; 400 for what is no package. */
export async function readControl(path: string): Promise<string> {
  const file = await open(path);
  try {
    return await controlIn(async (position, length) => {
      const buffer = Buffer.alloc(length);
      const { bytesRead } = await file.read(buffer, 0, length, position);
      return buffer.subarray(0, bytesRead);
    });
  } catch (error) {
    throw error instanceof ArchiveError ? badRequest(`the file is ${error.message}`) : error;
  } finally {
    await file.close();
  }
}
