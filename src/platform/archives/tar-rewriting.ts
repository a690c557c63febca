/** Tar files that git makes, with other bytes in the place of some of their files; and the same as zip files. In bounded memory. */
import { crc32, createDeflateRaw } from 'node:zlib';
import type { OpenBlob } from '../blobs/blob-store.ts';
import { crossing, type RawMember, rawMembers, withSize } from './raw-members.ts';

/** What takes the place of a small file; undefined where it stays. */
export type Replacing = {
  /** Bytes of the files that are looked into. */
  sizes: { least: number; most: number };
  find(content: Buffer): Promise<OpenBlob | undefined>;
};

/** The bytes of a member, and how many they are; drop() is the last call. */
type Content = { size: number; pieces: AsyncIterable<Buffer>; drop?(): Promise<void> };

async function* one(piece: Buffer): AsyncGenerator<Buffer, void> {
  yield piece;
}

/** A stream that has begun closes its blob, however it ends; one that nobody asks for does not. */
function contentOfBlob(blob: OpenBlob): Content {
  let isBegun = false;
  async function* pieces(): AsyncGenerator<Buffer, void> {
    isBegun = true;
    yield* blob.stream();
  }
  return {
    size: blob.size,
    pieces: pieces(),
    async drop() {
      if (!isBegun) await blob.close();
    },
  };
}

async function contentOf(member: RawMember, { sizes, find }: Replacing): Promise<Content> {
  const { size } = member;
  if (member.kind === 'link') return { size, pieces: one(Buffer.from(member.target, 'latin1')) };
  if (member.kind !== 'file' || size < sizes.least || size > sizes.most)
    return { size, pieces: member.pieces() };
  const content = await member.read();
  const found = await find(content);
  return found ? contentOfBlob(found) : { size, pieces: one(content) };
}

export async function* rewriteTar(
  tar: AsyncIterable<Buffer>,
  replacing: Replacing,
): AsyncGenerator<Buffer, void> {
  for await (const member of rawMembers(tar)) {
    // A link has its target in its header.
    const content: Content =
      member.kind === 'link' ? { size: 0, pieces: one(Buffer.alloc(0)) } : await contentOf(member, replacing);
    const { size, pieces } = content;
    try {
      yield member.before;
      yield size === member.size ? member.header : withSize(member.header, size);
      yield* pieces;
      yield Buffer.alloc(crossing(size));
    } finally {
      await content.drop?.();
    }
  }
  yield Buffer.alloc(10_240);
}

const UTF8_DESCRIBED = 0x808;
const VERSION = 20;
const UNIX = 3 << 8;
const DEFLATED = 8;
const REGULAR = 0o100000;
const LINK = 0o120000;

/** The time as the format has it, in UTC: by two seconds, from 1980 on. */
function dosTime(seconds: number): number {
  const time = new Date(Math.max(seconds, 315_532_800) * 1_000);
  const day = ((time.getUTCFullYear() - 1980) << 9) | ((time.getUTCMonth() + 1) << 5) | time.getUTCDate();
  const clock = (time.getUTCHours() << 11) | (time.getUTCMinutes() << 5) | (time.getUTCSeconds() >> 1);
  return day * 65_536 + clock;
}

/** The files and links of the tar file as a zip file; below 4 GiB, which the caller sees to. It has no entries for folders. */
export async function* rewriteAsZip(
  tar: AsyncIterable<Buffer>,
  replacing: Replacing,
): AsyncGenerator<Buffer, void> {
  const directory: Buffer[] = [];
  let offset = 0;
  for await (const member of rawMembers(tar)) {
    if (member.kind === 'other') continue;
    const name = Buffer.from(member.name, 'latin1');
    const common = Buffer.alloc(26);
    common.writeUInt16LE(VERSION, 0);
    common.writeUInt16LE(UTF8_DESCRIBED, 2);
    common.writeUInt16LE(DEFLATED, 4);
    common.writeUInt32LE(dosTime(member.modified), 6);
    common.writeUInt16LE(name.length, 22);
    const at = offset;
    const local = Buffer.concat([Buffer.from('PK\x03\x04'), common, name]);
    const content = await contentOf(member, replacing);
    let packed = 0;
    const sums = { crc: 0, size: 0 };
    try {
      yield local;
      for await (const piece of deflated(content.pieces, sums)) {
        packed += piece.length;
        yield piece;
      }
    } finally {
      await content.drop?.();
    }
    const described = Buffer.alloc(12);
    described.writeUInt32LE(sums.crc, 0);
    described.writeUInt32LE(packed, 4);
    described.writeUInt32LE(sums.size, 8);
    yield Buffer.concat([Buffer.from('PK\x07\x08'), described]);
    offset += local.length + packed + 16;
    described.copy(common, 10);
    const rest = Buffer.alloc(14);
    rest.writeUInt32LE((((member.kind === 'link' ? LINK : REGULAR) | member.mode) << 16) >>> 0, 6);
    rest.writeUInt32LE(at, 10);
    const made = Buffer.alloc(2);
    made.writeUInt16LE(UNIX | VERSION);
    directory.push(Buffer.concat([Buffer.from('PK\x01\x02'), made, common, rest, name]));
  }
  const listed = Buffer.concat(directory);
  const end = Buffer.alloc(22);
  end.write('PK\x05\x06');
  end.writeUInt16LE(directory.length, 8);
  end.writeUInt16LE(directory.length, 10);
  end.writeUInt32LE(listed.length, 12);
  end.writeUInt32LE(offset, 16);
  yield Buffer.concat([listed, end]);
}

/** The pieces packed; what they were is added up meanwhile. */
async function* deflated(
  pieces: AsyncIterable<Buffer>,
  sums: { crc: number; size: number },
): AsyncGenerator<Buffer, void> {
  const deflate = createDeflateRaw();
  const feeding = (async () => {
    for await (const piece of pieces) {
      sums.crc = crc32(piece, sums.crc);
      sums.size += piece.length;
      if (!deflate.write(piece))
        await new Promise<void>((ready) => {
          deflate.once('drain', ready).once('close', ready);
        });
      if (deflate.destroyed) return;
    }
    deflate.end();
  })();
  feeding.catch((error: Error) => deflate.destroy(error));
  yield* deflate as AsyncIterable<Buffer>;
  await feeding;
}
