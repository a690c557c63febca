/** Makes a zip file while it is sent, the same bytes for the same files. */
import { promisify } from 'node:util';
import { crc32, createDeflateRaw, deflateRaw } from 'node:zlib';

const deflate = promisify(deflateRaw);

/** Files in one: its headers have no larger numbers, and none for more than 4 GiB. */
export const MAX_ZIP_ENTRIES = 65_535;

const VERSION = 20;
const UTF8 = 0x800;
/** Sums and sizes stand behind the file. */
const DESCRIBED = 0x8;
const DEFLATED = 8;
const UNIX = 3 << 8;
/** The first and the last time that the format knows. */
const FIRST = Date.UTC(1980, 0, 1);
const LAST = Date.UTC(2107, 11, 31, 23, 59, 58);

export type ZipInput = {
  name: string | Buffer;
  /** Pieces are packed as they come. */
  content: Buffer | AsyncIterable<Buffer>;
  /** Of Unix, with the kind of the file. */
  mode?: number;
  modified?: Date;
};

/** The time as the format has it, in UTC: by two seconds. */
function dosTime(given: Date): number {
  const time = new Date(Math.min(Math.max(given.getTime(), FIRST), LAST));
  const day = ((time.getUTCFullYear() - 1980) << 9) | ((time.getUTCMonth() + 1) << 5) | time.getUTCDate();
  const clock = (time.getUTCHours() << 11) | (time.getUTCMinutes() << 5) | (time.getUTCSeconds() >> 1);
  return day * 65_536 + clock;
}

type Sums = { crc: number; packed: number; size: number };

function sumsOf({ crc, packed, size }: Sums): Buffer {
  const sums = Buffer.alloc(12);
  sums.writeUInt32LE(crc, 0);
  sums.writeUInt32LE(packed, 4);
  sums.writeUInt32LE(size, 8);
  return sums;
}

/** What stands of a file both before it and in the directory; its sums are known where its content is. */
function headerOf({ content, modified = new Date(FIRST) }: ZipInput, name: Buffer, sums?: Sums): Buffer {
  const header = Buffer.alloc(26);
  header.writeUInt16LE(VERSION, 0);
  header.writeUInt16LE(Buffer.isBuffer(content) ? UTF8 : UTF8 | DESCRIBED, 2);
  header.writeUInt16LE(DEFLATED, 4);
  header.writeUInt32LE(dosTime(modified), 6);
  if (sums) sumsOf(sums).copy(header, 10);
  header.writeUInt16LE(name.length, 22);
  return header;
}

const LOCAL = Buffer.from('PK\x03\x04');

async function* packed(file: ZipInput, name: Buffer): AsyncGenerator<Buffer, Sums> {
  const { content } = file;
  if (Buffer.isBuffer(content)) {
    const bytes = await deflate(content);
    const sums = { crc: crc32(content), packed: bytes.length, size: content.length };
    yield Buffer.concat([LOCAL, headerOf(file, name, sums), name, bytes]);
    return sums;
  }
  yield Buffer.concat([LOCAL, headerOf(file, name), name]);
  const sums = { crc: 0, packed: 0, size: 0 };
  for await (const piece of deflated(content, sums)) {
    sums.packed += piece.length;
    yield piece;
  }
  yield Buffer.concat([Buffer.from('PK\x07\x08'), sumsOf(sums)]);
  return sums;
}

/** The pieces packed; what they were is added up meanwhile. */
async function* deflated(pieces: AsyncIterable<Buffer>, sums: Sums): AsyncGenerator<Buffer, void> {
  const packing = createDeflateRaw();
  const feeding = (async () => {
    for await (const piece of pieces) {
      sums.crc = crc32(piece, sums.crc);
      sums.size += piece.length;
      if (!packing.write(piece))
        await new Promise<void>((ready) => {
          packing.once('drain', ready).once('close', ready);
        });
      if (packing.destroyed) return;
    }
    packing.end();
  })();
  feeding.catch((error: Error) => packing.destroy(error));
  yield* packing as AsyncIterable<Buffer>;
  await feeding;
}

/** The pieces of the archive; the caller sees to its bounds. */
export async function* zipPieces(files: AsyncIterable<ZipInput>): AsyncGenerator<Buffer, void> {
  const directory: Buffer[] = [];
  let offset = 0;
  let count = 0;
  for await (const file of files) {
    const name = Buffer.from(file.name);
    const at = offset;
    const pieces = packed(file, name);
    let next = await pieces.next();
    try {
      for (; !next.done; next = await pieces.next()) {
        offset += next.value.length;
        yield next.value;
      }
    } finally {
      if (!next.done) await pieces.return({ crc: 0, packed: 0, size: 0 });
    }
    const made = Buffer.alloc(2);
    made.writeUInt16LE(file.mode === undefined ? VERSION : UNIX | VERSION);
    const rest = Buffer.alloc(14);
    rest.writeUInt32LE(((file.mode ?? 0) << 16) >>> 0, 6);
    rest.writeUInt32LE(at, 10);
    count += 1;
    directory.push(Buffer.from('PK\x01\x02'), made, headerOf(file, name, next.value), rest, name);
  }
  const listed = Buffer.concat(directory);
  const end = Buffer.alloc(22);
  end.write('PK\x05\x06');
  end.writeUInt16LE(count, 8);
  end.writeUInt16LE(count, 10);
  end.writeUInt32LE(listed.length, 12);
  end.writeUInt32LE(offset, 16);
  yield Buffer.concat([listed, end]);
}
