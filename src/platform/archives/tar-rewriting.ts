/** Tar files that git makes, with other bytes in the place of some of their files; and the same as zip files. In bounded memory. */
import type { OpenBlob } from '../blobs/blob-store.ts';
import { resized, type TarMember, tarMembers, tarTail } from './tar.ts';
import { type ZipInput, zipPieces } from './zip-writer.ts';

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

async function contentOf(member: TarMember, { sizes, find }: Replacing): Promise<Content> {
  const { size } = member;
  if (!member.isFile || size < sizes.least || size > sizes.most) return { size, pieces: member.pieces() };
  const content = await member.read();
  const found = await find(content);
  return found ? contentOfBlob(found) : { size, pieces: one(content) };
}

type Found = { member: TarMember; content: Content };

/** git's own paths, byte by byte. Whoever gives up the members gives up the tar file. */
async function* contents(tar: AsyncIterable<Buffer>, replacing: Replacing): AsyncGenerator<Found, void> {
  const source = tar[Symbol.asyncIterator]();
  const kept = { [Symbol.asyncIterator]: () => source };
  try {
    const options = { longNames: true, encoding: 'latin1' } as const;
    for await (const member of tarMembers(kept, Number.POSITIVE_INFINITY, options)) {
      const content = await contentOf(member, replacing);
      try {
        yield { member, content };
      } finally {
        await content.drop?.();
      }
    }
  } finally {
    await source.return?.();
  }
}

export async function* rewriteTar(
  tar: AsyncIterable<Buffer>,
  replacing: Replacing,
): AsyncGenerator<Buffer, void> {
  for await (const { member, content } of contents(tar, replacing)) {
    const { size, pieces } = content;
    yield size === member.size ? member.head : resized(member.head, size);
    yield* pieces;
    yield tarTail(size);
  }
  yield Buffer.alloc(10_240);
}

const REGULAR = 0o100000;
const LINK = 0o120000;

async function* zipInputs(tar: AsyncIterable<Buffer>, replacing: Replacing): AsyncGenerator<ZipInput, void> {
  for await (const { member, content } of contents(tar, replacing)) {
    const { isFile, isLink, name, target } = member;
    if (!isFile && !isLink) continue;
    const { mode, modified } = member.attributes();
    yield {
      name: Buffer.from(name, 'latin1'),
      // A link has its target in its header.
      content: isLink ? Buffer.from(target, 'latin1') : content.pieces,
      mode: (isLink ? LINK : REGULAR) | mode,
      modified,
    };
  }
}

/** The files and links of the tar file as a zip file; below 4 GiB, which the caller sees to. It has no entries for folders. */
export const rewriteAsZip = (tar: AsyncIterable<Buffer>, replacing: Replacing): AsyncIterable<Buffer> =>
  zipPieces(zipInputs(tar, replacing));
