/** Reads tar files as they arrive, and makes them, in bounded memory. */
import { ArchiveError } from './zip-file.ts';

const BLOCK = 512;
/** Bytes of a name that a header of its own has. */
const MAX_NAME_BYTES = 65_536;

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
    /** At most so many bytes, at least one. */
    async some(length: number): Promise<Buffer> {
      if (held.length === 0) held = await more();
      const part = held.subarray(0, length);
      held = held.subarray(part.length);
      return part;
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

/** Of names: latin1 keeps bytes that are no text. */
type Encoding = 'utf8' | 'latin1';

const text = (header: Buffer, at: number, length: number, encoding: Encoding = 'utf8'): string => {
  const field = header.subarray(at, at + length);
  const end = field.indexOf(0);
  return field.subarray(0, end === -1 ? length : end).toString(encoding);
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
  isFolder: boolean;
  isLink: boolean;
  /** Of a link. */
  target: string;
  /** Its own header, and with `longNames` those before it, as they stand there. */
  head: Buffer;
  /** Rights, and when it was changed; throws ArchiveError where they are none. */
  attributes(): { mode: number; modified: Date };
  /** Its bytes, at once. */
  read(): Promise<Buffer>;
  /** Its bytes, as they arrive: once, and to their end. */
  pieces(): AsyncGenerator<Buffer, void>;
};

/** What headers before it say of a member. */
type Said = { path?: string; linkpath?: string; size?: number };

/** What a header of the kind `x` says of the next member (POSIX pax). */
function paxOf(records: Buffer, encoding: Encoding): Said {
  const said: Said = {};
  for (let at = 0; at < records.length; ) {
    const [, digits = ''] = /^(\d{1,6}) /.exec(records.toString('latin1', at, at + 7)) ?? [];
    const length = Number(digits);
    const record = records.toString(encoding, at + digits.length + 1, at + length - 1);
    // What is none says nothing.
    if (length <= digits.length + 2 || at + length > records.length) return {};
    const cut = record.indexOf('=');
    const value = record.slice(cut + 1);
    const name = record.slice(0, cut);
    if (name === 'path' || name === 'linkpath') said[name] = value;
    if (name === 'size') {
      if (!/^\d{1,15}$/.test(value)) return {};
      said.size = Number(value);
    }
    at += length;
  }
  return said;
}

const wholeBlocks = (size: number): number => Math.ceil(size / BLOCK) * BLOCK;

/**
 * What is in an archive of at most so many bytes, in its order. ArchiveError for what is none. Without `longNames`, the headers
 * that have names of more than 100 bytes are members of their own, and no files.
 */
export async function* tarMembers(
  pieces: AsyncIterable<Buffer>,
  maximum: number,
  { longNames = false, encoding = 'utf8' }: { longNames?: boolean; encoding?: Encoding } = {},
): AsyncGenerator<TarMember, void> {
  const bytes = reader(pieces[Symbol.asyncIterator](), maximum);
  let said: Said = {};
  let before: Buffer[] = [];
  for (;;) {
    const header = await bytes.take(BLOCK);
    // The end of the archive.
    if (header.every((byte) => byte === 0)) return;
    if (octal(header, 148, 8) !== sumOf(header)) throw broken();
    const kind = String.fromCharCode(header[156] ?? 0);
    const size = said.size ?? octal(header, 124, 12);
    if (longNames && 'xgLK'.includes(kind)) {
      if (size > MAX_NAME_BYTES) {
        await bytes.skip(wholeBlocks(size));
        continue;
      }
      const blocks = await bytes.take(wholeBlocks(size));
      before.push(header, blocks);
      const content = blocks.subarray(0, size);
      if (kind === 'x') said = paxOf(content, encoding);
      if (kind === 'L') said = { path: text(content, 0, size, encoding) };
      continue;
    }
    const prefix = header.toString('latin1', 257, 262) === 'ustar' ? text(header, 345, 155, encoding) : '';
    const name = said.path ?? `${prefix === '' ? '' : `${prefix}/`}${text(header, 0, 100, encoding)}`;
    const target = said.linkpath ?? text(header, 157, 100, encoding);
    const head = Buffer.concat([...before, header]);
    said = {};
    before = [];
    let left = wholeBlocks(size);
    yield {
      name,
      size,
      isFile: kind === '\0' || kind === '0',
      isFolder: kind === '5',
      isLink: kind === '2',
      target,
      head,
      attributes: () => ({
        mode: octal(header, 100, 8) & 0o7777,
        modified: new Date(octal(header, 136, 12) * 1_000),
      }),
      async read() {
        left -= size;
        return bytes.take(size);
      },
      async *pieces() {
        for (let more = size; more > 0; ) {
          const piece = await bytes.some(more);
          more -= piece.length;
          left -= piece.length;
          yield piece;
        }
      },
    };
    await bytes.skip(left);
  }
}

/** The headers of a member, for another size below 8 GiB. */
export function resized(head: Buffer, size: number): Buffer {
  const changed = Buffer.from(head);
  const own = changed.subarray(-BLOCK);
  own.write(`${size.toString(8).padStart(11, '0')}\0`, 124, 'latin1');
  own.write(`${sumOf(own).toString(8).padStart(6, '0')}\0 `, 148, 'latin1');
  return changed;
}

const MAX_OCTAL = 8 ** 11;

function header(name: Buffer, size: number, kind: string, modified: Date): Buffer {
  const block = Buffer.alloc(BLOCK);
  name.copy(block, 0, 0, 100);
  block.write('0000644\0', 100, 'latin1');
  for (const owner of [108, 116]) block.write('0000000\0', owner, 'latin1');
  // One that is longer has its size in a header before it.
  block.write(
    `${Math.min(size, MAX_OCTAL - 1)
      .toString(8)
      .padStart(11, '0')}\0`,
    124,
    'latin1',
  );
  block.write(
    `${Math.floor(modified.getTime() / 1_000)
      .toString(8)
      .padStart(11, '0')}\0`,
    136,
    'latin1',
  );
  block.write(kind, 156, 'latin1');
  block.write('ustar\x0000', 257, 'latin1');
  block.write(`${sumOf(block).toString(8).padStart(6, '0')}\0 `, 148, 'latin1');
  return block;
}

/** A record of a pax header; its length counts itself. */
function paxRecord(name: string, value: string): Buffer {
  const rest = Buffer.byteLength(` ${name}=${value}\n`);
  let length = rest + String(rest).length;
  length = rest + String(length).length;
  return Buffer.from(`${length} ${name}=${value}\n`);
}

const padding = (size: number): Buffer => Buffer.alloc(wholeBlocks(size) - size);

/** A file of so many bytes as a tar file has it: what stands before its bytes. */
export function tarHead(name: string, size: number, modified: Date): Buffer {
  const bytes = Buffer.from(name);
  const own = header(bytes, size, '0', modified);
  if (bytes.length <= 100 && size < MAX_OCTAL) return own;
  const said = Buffer.concat([
    paxRecord('path', name),
    ...(size < MAX_OCTAL ? [] : [paxRecord('size', String(size))]),
  ]);
  return Buffer.concat([
    header(Buffer.from('pax'), said.length, 'x', modified),
    said,
    padding(said.length),
    own,
  ]);
}

/** What stands behind them. */
export const tarTail = padding;

/** The end of a tar file. */
export const tarEnd = (): Buffer => Buffer.alloc(2 * BLOCK);
