/** Reads a backup from its beginning to its end, and compares each entry with the manifest. */
import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { open, readFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { pipeline, Readable } from 'node:stream';
import type { ReadableStream } from 'node:stream/web';
import { createZstdDecompress } from 'node:zlib';
import { tarMembers } from '../../platform/archives/tar.ts';
import { ArchiveError } from '../../platform/archives/zip-file.ts';
import {
  BadBackup,
  createOrder,
  type End,
  type Entry,
  type Header,
  isLendable,
  isOfRows,
  type Listed,
  manifestLine,
  parseEntry,
  parseHeader,
  readManifest,
} from './format.ts';

export type Keys = {
  /** A file with the secret keys of age, for a backup that is encrypted. */
  identity: string | undefined;
};

const MAX_HEADER = 4 * 1_048_576;
const MAX_MANIFEST_PART = 8 * 1_048_576;
/** Of HEAD, the refs of one repository, and the secret key, which are held in memory. */
const MAX_HELD = 512 * 1_048_576;
/** Entries before their part of the manifest. */
const MAX_UNLISTED = 200_000;

/** What was thrown while a file was decrypted, in the words of the library. */
class Undecrypted extends Error {}

async function decrypted(raw: Readable, identity: string | undefined): Promise<Readable> {
  if (identity === undefined)
    throw new BadBackup('it is encrypted: name the file of the key with --identity');
  const keys = await readFile(identity, 'utf8').catch((error: Error) => {
    throw new BadBackup(`it is encrypted, and the key cannot be read: ${error.message}`);
  });
  const { Decrypter } = await import('age-encryption');
  const decrypter = new Decrypter();
  const lines = keys.split('\n').filter((line) => line.startsWith('AGE-SECRET-KEY-'));
  if (lines.length === 0) throw new BadBackup(`it is encrypted, and ${identity} has no key of age`);
  try {
    for (const line of lines) decrypter.addIdentity(line.trim());
    const plain = await decrypter.decrypt(Readable.toWeb(raw) as globalThis.ReadableStream<Uint8Array>);
    const pieces = Readable.fromWeb(plain as ReadableStream<Uint8Array>);
    return Readable.from(
      (async function* () {
        try {
          yield* pieces;
        } catch (error) {
          throw new Undecrypted((error as Error).message);
        }
      })(),
      { objectMode: false },
    );
  } catch {
    throw new BadBackup('it is encrypted, and this key does not open it');
  }
}

async function opened(file: string, { identity }: Keys): Promise<Readable> {
  const handle = await open(file).catch((error: Error) => {
    throw new BadBackup(`it cannot be read: ${error.message}`);
  });
  const start = Buffer.alloc(32);
  try {
    await handle.read(start, 0, 32, 0);
  } catch (error) {
    throw new BadBackup(`it cannot be read: ${(error as Error).message}`);
  } finally {
    await handle.close();
  }
  const raw = createReadStream(file, { highWaterMark: 1_048_576 });
  return start.toString('latin1').startsWith('age-encryption.org/') ? decrypted(raw, identity) : raw;
}

/** The words for what a reader of a broken file throws. */
function inWords(error: unknown): unknown {
  if (error instanceof ArchiveError)
    return new BadBackup('it ends before its end, or is no backup: it was interrupted, cut off, or changed');
  if (error instanceof Undecrypted) return new BadBackup(`it cannot be decrypted: ${error.message}`);
  const code = String((error as { code?: unknown } | null)?.code ?? '');
  if (/^(ZSTD|ERR_ZLIB|Z_)/.test(code))
    return new BadBackup('it is damaged, cut off, or no backup: it cannot be decompressed');
  return error;
}

export type Kept = Exclude<Entry, { kind: 'manifest' | 'end' | 'header' }>;
export type Sink = (
  entry: Kept,
  listed: Pick<Listed, 'name' | 'size'>,
  pieces: AsyncIterable<Buffer>,
) => Promise<void>;

/** `end` is of what was read. */
export type Read = { header: Header; end: End; borrowed: Map<string, Listed> };

/** A part of a backup that was verified: its rows, which stand before its files. */
export type Section = 'rows' | 'files';

const isOf = (section: Section | undefined, entry: Entry): boolean =>
  section === undefined || isOfRows(entry) === (section === 'rows');

/** What to do with one file of a chain: a backup, its base, and so on. Without a section, all of it is read. */
type Visit = {
  sink: Sink;
  begin?: ((header: Header) => Promise<void>) | undefined;
  section?: Section | undefined;
};

/**
 * Hands on each entry of the section as it arrives; `begin` gets the header first. What was handed on counts when this resolves.
 * Where the rows alone are asked for, the rest is not read.
 */
async function readBackup(
  file: string,
  keys: Keys,
  { sink, begin = async () => {}, section }: Visit,
): Promise<Read> {
  const raw = await opened(file, keys);
  const unpacked = pipeline(raw, createZstdDecompress({ chunkSize: 1_048_576 }), () => undefined);
  const order = createOrder();
  const all = createHash('sha256');
  const borrowed = new Map<string, Listed>();
  let header: Header | undefined;
  let end: End | undefined;
  let isPastRows = false;
  let lines: string[] = [];
  let entries = 0;
  let bytes = 0;
  const read = (): End => ({ entries, bytes, sha256: all.digest('hex') });
  try {
    for await (const member of tarMembers(unpacked as AsyncIterable<Buffer>, Number.MAX_SAFE_INTEGER)) {
      const { name, size } = member;
      if (!member.isFile)
        throw new BadBackup(`it has a link or a folder: ${JSON.stringify(name.slice(0, 100))}`);
      const entry = parseEntry(name);
      order(name, entry);
      if (size > limitOf(entry)) throw new BadBackup(`${name} is too large`);
      if (entry.kind === 'manifest') {
        const text = await member.read();
        all.update(text);
        for (const listed of readManifest(text.toString('latin1'), lines)) {
          if (isPastRows && isOfRows(parseEntry(listed.name)))
            throw new BadBackup('it borrows rows after its files');
          borrowed.set(listed.name, listed);
        }
        lines = [];
        continue;
      }
      if (entry.kind === 'end') {
        const expected = read();
        if (lines.length > 0 || (await member.read()).toString('utf8') !== JSON.stringify(expected))
          throw new BadBackup('its entries are not those that its manifest has');
        end = expected;
        continue;
      }
      isPastRows ||= !(isOfRows(entry) || entry.kind === 'header');
      if (header && isPastRows && section === 'rows') return { header, end: read(), borrowed };
      const hash = createHash('sha256');
      let length = 0;
      async function* hashed(): AsyncGenerator<Buffer> {
        for await (const piece of member.pieces()) {
          hash.update(piece);
          length += piece.length;
          yield piece;
        }
      }
      if (entry.kind === 'header') {
        header = parseHeader((await held(hashed())).toString('utf8'));
        await begin(header);
      } else await (isOf(section, entry) ? sink : skip)(entry, { name, size }, hashed());
      if (length !== size) throw new Error(`${name} was not read to its end`);
      lines.push(manifestLine({ sha256: hash.digest('hex'), size, name }));
      if (lines.length > MAX_UNLISTED) throw new BadBackup('its manifest is missing');
      entries += 1;
      bytes += size;
    }
  } catch (error) {
    throw inWords(error);
  } finally {
    raw.destroy();
    unpacked.destroy();
  }
  if (!header || !end) throw new BadBackup('it has no end: the backup was interrupted');
  if (borrowed.size > 0 && header.base === null) throw new BadBackup('it borrows, and names no base');
  return { header, end, borrowed };
}

function limitOf({ kind }: Entry): number {
  if (kind === 'header' || kind === 'end') return MAX_HEADER;
  if (kind === 'manifest') return MAX_MANIFEST_PART;
  return kind === 'head' || kind === 'refs' || kind === 'secret-key' ? MAX_HELD : Number.MAX_SAFE_INTEGER;
}

/** All of an entry. */
export async function held(pieces: AsyncIterable<Buffer>): Promise<Buffer> {
  const parts: Buffer[] = [];
  for await (const piece of pieces) parts.push(piece);
  return Buffer.concat(parts);
}

export const skip: Sink = async (_entry, _listed, pieces) => {
  for await (const _ of pieces);
};

/** Bases of bases. */
const MAX_BASES = 1_000;

/**
 * Reads a backup, and then what it borrows, in the backups that it names, which lie in its folder. Each file is read once, and
 * what it lends is compared with what is borrowed. Throws BadBackup that names the file.
 */
export async function readChain(
  file: string,
  keys: Keys,
  { sink, begin, section }: Visit,
): Promise<Read & { files: string[] }> {
  const first = await readBackup(file, keys, { sink, begin, section });
  const files = [file];
  let wanted = new Map([...first.borrowed].filter(([name]) => isOf(section, parseEntry(name))));
  for (let { base } = first.header; base && wanted.size > 0; ) {
    if (files.length > MAX_BASES) throw new BadBackup('its bases have no end');
    const path = join(dirname(file), base.name);
    const { id } = base;
    files.push(path);
    const missing: ReadonlyMap<string, Listed> = wanted;
    const lent = new Set<string>();
    const read = await readBackup(path, keys, {
      section,
      async sink(entry, { name, size }, pieces) {
        const listed = isLendable(entry) ? missing.get(name) : undefined;
        if (listed === undefined) return skip(entry, { name, size }, pieces);
        if (listed.size !== size) throw new BadBackup(`${name} is not the one that was borrowed`);
        const hash = createHash('sha256');
        await sink(
          entry,
          { name, size },
          (async function* () {
            for await (const piece of pieces) {
              hash.update(piece);
              yield piece;
            }
          })(),
        );
        if (hash.digest('hex') !== listed.sha256)
          throw new BadBackup(`${name} is not the one that was borrowed`);
        lent.add(name);
      },
      async begin(header) {
        if (header.id !== id) throw new BadBackup('it is another backup than the one that was borrowed from');
      },
    }).catch((error: unknown) => {
      throw error instanceof BadBackup ? new BadBackup(`its base ${path}: ${error.message}`) : error;
    });
    wanted = new Map([...missing].filter(([name]) => !lent.has(name)));
    for (const [name, { sha256 }] of wanted)
      if (read.borrowed.get(name)?.sha256 !== sha256)
        throw new BadBackup(`its base ${path} has no ${name}, which is borrowed`);
    base = read.header.base;
  }
  if (wanted.size > 0) throw new BadBackup('what it borrows is in none of its bases');
  return { ...first, files };
}
