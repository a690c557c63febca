/** A whole repository as one tar file: its objects and refs of one moment, whatever is written meanwhile. */
import { createReadStream } from 'node:fs';
import { readdir, rm, stat } from 'node:fs/promises';
import { dirname, join, relative } from 'node:path';
import { Readable } from 'node:stream';
import { randomHex } from '../../secret.ts';
import { copyRepository } from './copy.ts';

const BLOCK_BYTES = 512;
const MAX_OCTAL = 8 ** 11;

/** A number in twelve bytes: octal text, or binary if too large for that. */
function writeNumber(header: Buffer, value: number, at: number): void {
  if (value < MAX_OCTAL) header.write(`${value.toString(8).padStart(11, '0')}\0`, at, 'latin1');
  else {
    header[at] = 0x80;
    header.writeBigUInt64BE(BigInt(value), at + 4);
  }
}

/** The header of one file (POSIX ustar); names in a repository's copy are short and plain. */
export function tarHeader(name: string, size: number, modified: Date): Buffer {
  const header = Buffer.alloc(BLOCK_BYTES);
  header.write(name, 0, 100, 'latin1');
  header.write('0000644\0', 100, 'latin1');
  for (const owner of [108, 116]) header.write('0000000\0', owner, 'latin1');
  writeNumber(header, size, 124);
  writeNumber(header, Math.floor(modified.getTime() / 1_000), 136);
  header.write('0', 156, 'latin1');
  header.write('ustar\x0000', 257, 'latin1');
  // The checksum counts its own field as spaces.
  header.write(' '.repeat(8), 148, 'latin1');
  const sum = header.reduce((total, byte) => total + byte, 0);
  header.write(`${sum.toString(8).padStart(6, '0')}\0 `, 148, 'latin1');
  return header;
}

async function* tarOf(folder: string): AsyncGenerator<Buffer> {
  for (const entry of await readdir(folder, { recursive: true, withFileTypes: true })) {
    if (!entry.isFile()) continue;
    const path = join(entry.parentPath, entry.name);
    const { size, mtime } = await stat(path);
    yield tarHeader(relative(folder, path), size, mtime);
    for await (const piece of createReadStream(path)) yield piece as Buffer; // a stream without an encoding gives buffers
    yield Buffer.alloc((BLOCK_BYTES - (size % BLOCK_BYTES)) % BLOCK_BYTES);
  }
  yield Buffer.alloc(2 * BLOCK_BYTES);
}

/** Streams the tar file of the repository, which must not be removed until the stream ends. */
export async function snapshotRepository(folder: string): Promise<Readable> {
  const draft = join(dirname(folder), `.new-${randomHex(8)}`);
  await copyRepository(folder, draft, { link: true });
  const stream = Readable.from(tarOf(draft), { objectMode: false });
  stream.once('close', () => {
    // The sweep of drafts removes what remains.
    rm(draft, { recursive: true, force: true }).catch(() => {});
  });
  return stream;
}
