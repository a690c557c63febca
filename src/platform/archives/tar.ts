/** Reads tar files as they arrive, in bounded memory. */
import { ArchiveError } from './zip-file.ts';

const BLOCK = 512;

const broken = (): ArchiveError => new ArchiveError('not a tar file');

/** Reads bytes one run after the other. */
function reader(pieces: AsyncIterator<Buffer>, maximum: number) {
  let held: Buffer = Buffer.alloc(0);
  let read = 0;
  async function more(): Promise<Buffer> {
    const { value, done } = await pieces.next();
    if (done) throw broken();
    read += value.length;
    if (read > maximum) throw new ArchiveError('too large when it is unpacked');
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

export type TarMember = {
  /** As it stands there, `..` and all. */
  name: string;
  size: number;
  isFile: boolean;
  /** Its bytes, at once. */
  read(): Promise<Buffer>;
};

/** What is in an archive of at most so many bytes, in its order. ArchiveError for what is none. */
export async function* tarMembers(
  pieces: AsyncIterable<Buffer>,
  maximum: number,
): AsyncGenerator<TarMember, void> {
  const bytes = reader(pieces[Symbol.asyncIterator](), maximum);
  for (;;) {
    const header = await bytes.take(BLOCK);
    // The end of the archive.
    if (header.every((byte) => byte === 0)) return;
    if (octal(header, 148, 8) !== sumOf(header)) throw broken();
    const size = octal(header, 124, 12);
    const prefix = header.toString('latin1', 257, 262) === 'ustar' ? text(header, 345, 155) : '';
    let left = Math.ceil(size / BLOCK) * BLOCK;
    yield {
      name: `${prefix === '' ? '' : `${prefix}/`}${text(header, 0, 100)}`,
      size,
      isFile: header[156] === 0 || header[156] === 0x30,
      async read() {
        left -= size;
        return bytes.take(size);
      },
    };
    await bytes.skip(left);
  }
}
