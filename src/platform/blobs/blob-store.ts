/** Where whole blobs are kept, each under its name: its SHA-256, as 64 hexadecimal digits. */
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

export type BlobStore = {
  /** Gives the bytes of a file this name, if nothing has it; they are durable when this resolves. */
  keep(name: string, file: string): Promise<void>;
  /** Undefined where there is none. The caller reads its stream to the end, destroys it, or closes the blob. */
  open(name: string): Promise<OpenBlob | undefined>;
  /** Nothing where there is none. */
  remove(name: string): Promise<void>;
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

/** The name as a path: stores of both kinds have the same names, so that any program for such stores copies one to the other. */
export function pathOfBlob(name: string): string {
  if (!isBlobName(name)) throw new Error('not the name of a blob');
  return `${name.slice(0, 2)}/${name}`;
}

export const isBlobName = (name: string): boolean => /^[0-9a-f]{64}$/.test(name);
