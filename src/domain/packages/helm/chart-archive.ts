/** Finds the description of a chart in its archive, a tar file packed by gzip, in bounded time and memory. */
import { createReadStream } from 'node:fs';
import { createGunzip } from 'node:zlib';
import { badRequest } from '../../../platform/failure.ts';

/** Of the archive, unpacked, and of the description. */
const MAX_UNPACKED = 67_108_864;
const MAX_DESCRIPTION = 65_536;
const BLOCK = 512;

const DESCRIPTION = /^(?:\.\/)?[^/]+\/Chart\.yaml$/;

const broken = (): Error => badRequest('chart is not a tar file that gzip packed');

/** Reads bytes one run after the other. */
function reader(pieces: AsyncIterator<Buffer>) {
  let held: Buffer = Buffer.alloc(0);
  let read = 0;
  async function more(): Promise<Buffer> {
    const { value, done } = await pieces.next();
    if (done) throw broken();
    read += value.length;
    if (read > MAX_UNPACKED) throw badRequest('chart is too large when it is unpacked');
    return value;
  }
  return {
    async take(length: number): Promise<Buffer> {
      const parts = [held];
      for (let size = held.length; size < length; ) {
        const piece = await more();
        parts.push(piece);
        size += piece.length;
      }
      const all = parts.length === 1 ? held : Buffer.concat(parts);
      held = all.subarray(length);
      return all.subarray(0, length);
    },
    async skip(length: number): Promise<void> {
      let left = length;
      while (left > held.length) {
        left -= held.length;
        held = await more();
      }
      held = held.subarray(left);
    },
  };
}

const text = (header: Buffer, at: number, length: number): string => {
  const field = header.subarray(at, at + length);
  const end = field.indexOf(0);
  return field.subarray(0, end === -1 ? length : end).toString('utf8');
};

function octal(header: Buffer, at: number, length: number): number {
  const digits = text(header, at, length).trim();
  if (!/^[0-7]+$/.test(digits)) throw broken();
  return Number.parseInt(digits, 8);
}

/** Bytes of the header, of which those of the sum itself count as spaces. */
const sumOf = (header: Buffer): number =>
  header.reduce((sum, byte, at) => sum + (at >= 148 && at < 156 ? 0x20 : byte), 0);

/** The first description right in a folder of the archive. 400 for what is no archive, and for one without it. */
export async function descriptionIn(pieces: AsyncIterable<Buffer>): Promise<string> {
  const bytes = reader(pieces[Symbol.asyncIterator]());
  for (;;) {
    const header = await bytes.take(BLOCK);
    // The end of the archive.
    if (header.every((byte) => byte === 0)) throw badRequest('chart has no Chart.yaml');
    if (octal(header, 148, 8) !== sumOf(header)) throw broken();
    const size = octal(header, 124, 12);
    const prefix = header.toString('latin1', 257, 262) === 'ustar' ? text(header, 345, 155) : '';
    const name = `${prefix === '' ? '' : `${prefix}/`}${text(header, 0, 100)}`;
    const isFile = header[156] === 0 || header[156] === 0x30;
    if (isFile && DESCRIPTION.test(name)) {
      if (size > MAX_DESCRIPTION) throw badRequest('Chart.yaml is too large');
      return (await bytes.take(size)).toString('utf8');
    }
    await bytes.skip(Math.ceil(size / BLOCK) * BLOCK);
  }
}

/** The same of a file on disk. */
export async function readDescription(path: string): Promise<string> {
  const source = createReadStream(path);
  const unpacked = createGunzip();
  source.on('error', (error) => unpacked.destroy(error));
  try {
    return await descriptionIn(source.pipe(unpacked));
  } catch (error) {
    const { code } = error as { code?: unknown };
    throw typeof code === 'string' && code.startsWith('Z_') ? broken() : error;
  } finally {
    source.destroy();
    unpacked.destroy();
  }
}
