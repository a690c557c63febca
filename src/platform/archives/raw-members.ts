/** The members of a tar file of git's, with their headers as they stand there. */
import { ArchiveError } from './zip-file.ts';

const BLOCK = 512;
/** Bytes of the headers that say more of a member: git has its longest path there. */
const MAX_SAID = 65_536;

export type RawMember = {
  kind: 'file' | 'link' | 'other';
  /** Bytes as latin1, as are those of the target of a link. */
  name: string;
  target: string;
  size: number;
  mode: number;
  /** In seconds. */
  modified: number;
  /** Headers that say more of it. */
  before: Buffer;
  header: Buffer;
  /** Its bytes: once, by one of the two. */
  read(): Promise<Buffer>;
  pieces(): AsyncGenerator<Buffer, void>;
};

/** Zeros behind so many bytes. */
export const crossing = (size: number): number => (BLOCK - (size % BLOCK)) % BLOCK;

const broken = (): ArchiveError => new ArchiveError('not a tar file');

function textAt(header: Buffer, at: number, length: number): string {
  const field = header.toString('latin1', at, at + length);
  const end = field.indexOf('\0');
  return end === -1 ? field : field.slice(0, end);
}

function octalAt(header: Buffer, at: number, length: number): number {
  const digits = textAt(header, at, length).trim();
  if (!/^[0-7]+$/.test(digits)) throw broken();
  return Number.parseInt(digits, 8);
}

/** The header with another size, below 8 GiB. */
export function withSize(header: Buffer, size: number): Buffer {
  const changed = Buffer.from(header);
  changed.write(`${size.toString(8).padStart(11, '0')}\0`, 124, 'latin1');
  changed.fill(' ', 148, 156);
  const sum = changed.reduce((all, byte) => all + byte, 0);
  changed.write(`${sum.toString(8).padStart(6, '0')}\0 `, 148, 'latin1');
  return changed;
}

/** `length key=value` lines (POSIX pax). */
function paxOf(said: Buffer): Map<string, string> {
  const found = new Map<string, string>();
  for (let at = 0; at < said.length; ) {
    const digits = /^\d{1,6}(?= )/.exec(said.toString('latin1', at, at + 7))?.[0];
    const length = Number(digits);
    if (digits === undefined || length <= digits.length + 1 || at + length > said.length) throw broken();
    const line = said.toString('latin1', at + digits.length + 1, at + length - 1);
    const cut = line.indexOf('=');
    found.set(line.slice(0, cut), line.slice(cut + 1));
    at += length;
  }
  return found;
}

const kinds: Readonly<Record<string, RawMember['kind']>> = { '0': 'file', '\0': 'file', '2': 'link' };

export async function* rawMembers(tar: AsyncIterable<Buffer>): AsyncGenerator<RawMember, void> {
  const source = tar[Symbol.asyncIterator]();
  let held: Buffer = Buffer.alloc(0);
  async function more(): Promise<void> {
    const { value, done } = await source.next();
    if (done) throw broken();
    held = held.length === 0 ? value : Buffer.concat([held, value]);
  }
  async function take(length: number): Promise<Buffer> {
    while (held.length < length) await more();
    const taken = held.subarray(0, length);
    held = held.subarray(length);
    return taken;
  }
  async function* pass(length: number): AsyncGenerator<Buffer, void> {
    for (let left = length; left > 0; ) {
      if (held.length === 0) await more();
      const piece = held.subarray(0, left);
      held = held.subarray(piece.length);
      left -= piece.length;
      yield piece;
    }
  }
  try {
    let before: Buffer[] = [];
    let said = new Map<string, string>();
    for (;;) {
      const header = Buffer.from(await take(BLOCK));
      if (header.every((byte) => byte === 0)) return;
      const kind = String.fromCharCode(header[156] ?? 0);
      const size = said.has('size') ? Number(said.get('size')) : octalAt(header, 124, 12);
      if (kind === 'x' || kind === 'g') {
        if (size > MAX_SAID) throw broken();
        const blocks = Buffer.from(await take(size + crossing(size)));
        if (kind === 'x') said = paxOf(blocks.subarray(0, size));
        before.push(header, blocks);
        continue;
      }
      const prefix = textAt(header, 345, 155);
      let left = size;
      const member: RawMember = {
        kind: kinds[kind] ?? 'other',
        name: said.get('path') ?? `${prefix === '' ? '' : `${prefix}/`}${textAt(header, 0, 100)}`,
        target: said.get('linkpath') ?? textAt(header, 157, 100),
        size,
        mode: octalAt(header, 100, 8) & 0o7777,
        modified: octalAt(header, 136, 12),
        before: Buffer.concat(before),
        header,
        async read() {
          left = 0;
          return Buffer.from(await take(size));
        },
        async *pieces() {
          left = 0;
          yield* pass(size);
        },
      };
      yield member;
      // What nobody read.
      for await (const _ of pass(left));
      await take(crossing(size));
      before = [];
      said = new Map();
    }
  } finally {
    await source.return?.();
  }
}
