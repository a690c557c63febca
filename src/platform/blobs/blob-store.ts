/** What is read of blobs, wherever their bytes are. */
import type { FileHandle } from 'node:fs/promises';
import type { Readable } from 'node:stream';
import type { ByteRange } from '../http/byte-range.ts';

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

/** An open file as a blob. */
export async function asBlob(handle: FileHandle): Promise<OpenBlob> {
  const { size } = await handle.stat();
  return {
    size,
    stream: (range) => handle.createReadStream(range),
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
