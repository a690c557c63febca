/** What is read of blobs, wherever their bytes are. */
import type { FileHandle } from 'node:fs/promises';
import { Readable } from 'node:stream';
import type { ByteRange } from '../http/byte-range.ts';
import { dropPieces } from '../machine/memory.ts';

export type OpenBlob = {
  size: number;
  stream(range?: ByteRange): Readable;
  /** Fills the buffer from a position on; the number of bytes, fewer only at the end. */
  read(target: Buffer, position: number): Promise<number>;
  close(): Promise<void>;
};

/** Where bytes come to rest. An object gets its name once, and no other bytes do. */
export type ObjectStore = {
  /** Durable when it resolves. The bytes of the file have this SHA-256. */
  put(object: string, file: string, sha256: Buffer): Promise<void>;
  /** Undefined where there is none. */
  open(object: string): Promise<OpenBlob | undefined>;
  /** Nothing where there is none. */
  remove(object: string): Promise<void>;
  /** The names of those that were last written before the time, a batch at a time. */
  older(before: Date): AsyncIterable<string[]>;
};

/** Read at once of a file that is sent. */
const PIECE_BYTES = 65_536;

/** The file, or a range of it; closed at its end. Pieces are collected soon after they were sent. */
function readFile(handle: FileHandle, { start, end }: ByteRange): Readable {
  let at = start;
  let reading: Promise<unknown> = Promise.resolve();
  const read = async (): Promise<Buffer | null> => {
    const piece = Buffer.allocUnsafeSlow(Math.min(PIECE_BYTES, end + 1 - at));
    const { bytesRead } = await handle.read(piece, 0, piece.length, at);
    at += bytesRead;
    dropPieces(bytesRead);
    return bytesRead === 0 ? null : piece.subarray(0, bytesRead);
  };
  return new Readable({
    highWaterMark: PIECE_BYTES,
    read() {
      reading = read().then(
        (piece) => this.push(piece),
        (error) => this.destroy(error),
      );
    },
    destroy(error, done) {
      reading.then(() => handle.close()).then(() => done(error), done);
    },
  });
}

/** An open file as a blob. */
export async function asBlob(handle: FileHandle): Promise<OpenBlob> {
  const { size } = await handle.stat();
  return {
    size,
    stream: (range = { start: 0, end: size - 1 }) => readFile(handle, range),
    async read(target, position) {
      const { bytesRead } = await handle.read(target, 0, target.length, position);
      return bytesRead;
    },
    close: () => handle.close(),
  };
}

/** Of a file: 64 hexadecimal digits of its SHA-256. */
export const isBlobName = (name: string): boolean => /^[0-9a-f]{64}$/.test(name);

/** The name of an object: that of the blob, its size, and what no other has. */
export const objectName = (name: string, size: number, nonce: string): string =>
  `${name.slice(0, 2)}/${name}/${size}-${nonce}`;

/** What the name of an object says; undefined for one that is not ours. */
export function parseObjectName(object: string): { name: string; size: number } | undefined {
  const [, name = '', size = ''] =
    /^[0-9a-f]{2}\/([0-9a-f]{64})\/(\d{1,16})-[0-9a-f]{16}$/.exec(object) ?? [];
  return name === '' ? undefined : { name, size: Number(size) };
}
