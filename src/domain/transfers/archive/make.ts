/** Makes archives: a tar file in gzip, as it is made. */
import { createReadStream, createWriteStream } from 'node:fs';
import { rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createGzip } from 'node:zlib';
import { tarEnd, tarHead, tarTail } from '../../../platform/archives/tar.ts';
import { now } from '../../../platform/clock.ts';
import type { DiskGuard } from '../../../platform/machine/disk.ts';

/** A file of an archive; one at a time is made, and is gone when the next one is. */
export type Entry =
  | { name: string; bytes: Buffer }
  | { name: string; size: number; pieces: AsyncIterable<Buffer> }
  /** In a file, which is removed. */
  | { name: string; path: string };

export class TooLarge extends Error {}

async function* piecesOf(entries: AsyncIterable<Entry>): AsyncGenerator<Buffer> {
  for await (const entry of entries) {
    if ('bytes' in entry) {
      yield Buffer.concat([
        tarHead(entry.name, entry.bytes.length, now()),
        entry.bytes,
        tarTail(entry.bytes.length),
      ]);
      continue;
    }
    const size = 'size' in entry ? entry.size : (await stat(entry.path)).size;
    yield tarHead(entry.name, size, now());
    // A stream without an encoding gives buffers.
    const pieces = 'pieces' in entry ? entry.pieces : (createReadStream(entry.path) as AsyncIterable<Buffer>);
    let written = 0;
    for await (const piece of pieces) {
      written += piece.length;
      yield piece;
    }
    if (written !== size) throw new Error(`${entry.name} changed while it was read`);
    yield tarTail(size);
    if ('path' in entry) await rm(entry.path, { force: true });
  }
  yield tarEnd();
}

/** Writes the archive; TooLarge where it has more than `maximum` bytes. */
export async function writeArchive(
  entries: AsyncIterable<Entry>,
  maximum: number,
  write: (piece: Buffer) => Promise<void>,
): Promise<void> {
  let size = 0;
  await pipeline(
    Readable.from(piecesOf(entries), { objectMode: false }),
    createGzip({ level: 5 }),
    async (pieces: AsyncIterable<Buffer>) => {
      for await (const piece of pieces) {
        size += piece.length;
        if (size > maximum) throw new TooLarge('The archive is larger than max_export_size.');
        await write(piece);
      }
    },
  );
}

const LINE_END = Buffer.from('\n');

/** Lines as a file of the folder, whose size the archive has to say before them; undefined where there are none. */
export async function linesInFile(
  folder: string,
  disk: Pick<DiskGuard, 'refuseWritesOf'>,
  pages: AsyncIterable<string[]>,
): Promise<{ path: string; count: number } | undefined> {
  const path = join(folder, 'lines');
  let count = 0;
  async function* pieces(): AsyncGenerator<Buffer> {
    for await (const lines of pages) {
      const piece = Buffer.concat(lines.flatMap((line) => [Buffer.from(line), LINE_END]));
      await disk.refuseWritesOf(piece.length);
      count += lines.length;
      yield piece;
    }
  }
  await pipeline(Readable.from(pieces(), { objectMode: false }), createWriteStream(path, { mode: 0o600 }));
  return count === 0 ? undefined : { path, count };
}
