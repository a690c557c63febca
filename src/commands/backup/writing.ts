/** Writes a backup: tar in zstd, and in age where there are recipients. */
import { createHash } from 'node:crypto';
import { open, rename, rm } from 'node:fs/promises';
import { dirname } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { ReadableStream } from 'node:stream/web';
import { constants, createZstdCompress } from 'node:zlib';
import { tarEnd, tarHead, tarTail } from '../../platform/archives/tar.ts';
import { syncFolder } from '../../platform/git/write.ts';
import { borrowedLine, type End, isLendable, type Listed, manifestLine, parseEntry } from './format.ts';
import { type FirstLine, type IndexWriting, startIndex } from './index-file.ts';

export const STANDARD_OUTPUT = '-';

export type Pieces = AsyncIterable<Buffer> | Iterable<Buffer>;

export type BackupFile = {
  /**
   * Exactly `size` bytes; throws where others come. Their SHA-256. The pieces are not to be read afterwards. What is not whole, as
   * `isWhole` says at its end, is lent to no later backup.
   */
  add(name: string, size: number, pieces: Pieces, isWhole?: (sha256: string) => boolean): Promise<string>;
  /** Says that the base has it. */
  borrow(listed: Listed): Promise<void>;
  /** All parts of a table are there or borrowed, with so many rows: a later backup may borrow them. */
  endTable(table: string, count: number): Promise<void>;
  /** Lists all that is there or borrowed until now: a restore reads the rows first, in all files that have some. */
  endRows(): Promise<void>;
  /** Bytes of entries until now. */
  bytes(): number;
  /** The manifest, the end, and the file's name. */
  finish(): Promise<End>;
  /** Removes what was written. */
  discard(): Promise<void>;
};

const MANIFEST_PART = 4 * 1_048_576;
/** Each costs a turn of the thread pool and a write to the disk. */
const PIECE_BYTES = 262_144;
const PIECES_HELD = 8;
/** Others who wait for the disk wait for no more than this, and as much again that is on its way. */
const UNSYNCED_BYTES = 8 * 1_048_576;

/**
 * Gives back the memory of a piece that nobody reads any more, and that has all of it, or the end where the rest is over. The garbage
 * collector would wait for 64 MB of pieces, and look through the whole heap then.
 */
function release({ buffer, byteOffset, byteLength }: Buffer, isRestOver: boolean): void {
  if (byteLength > 0 && byteOffset + byteLength === buffer.byteLength && (byteOffset === 0 || isRestOver))
    (buffer as ArrayBuffer).transfer(0);
}

async function encrypted(plain: Readable, recipients: readonly string[]): Promise<Readable> {
  if (recipients.length === 0) return plain;
  const { Encrypter } = await import('age-encryption');
  const encrypter = new Encrypter();
  for (const recipient of recipients) encrypter.addRecipient(recipient);
  const sealed = await encrypter.encrypt(Readable.toWeb(plain) as globalThis.ReadableStream<Uint8Array>);
  return Readable.fromWeb(sealed as ReadableStream<Uint8Array>);
}

/** Throws in words for what is none. */
export async function checkRecipients(recipients: readonly string[]): Promise<void> {
  if (recipients.length === 0) return;
  const { Encrypter } = await import('age-encryption');
  for (const recipient of recipients)
    try {
      new Encrypter().addRecipient(recipient);
    } catch {
      throw new Error(`${recipient} is no recipient of age: they begin with age1`);
    }
}

/** The file has its name when it is whole; until then it is `FILE.part`. An index lies beside it; standard output has none. */
export async function startWriting(
  target: string,
  { first, recipients, time }: { first: FirstLine; recipients: readonly string[]; time: Date },
): Promise<BackupFile> {
  const draft = target === STANDARD_OUTPUT ? undefined : `${target}.part`;
  const handle = draft === undefined ? undefined : await open(draft, 'w', 0o600);
  let index: IndexWriting | undefined;
  const compressed = createZstdCompress({
    chunkSize: PIECE_BYTES,
    params: { [constants.ZSTD_c_compressionLevel]: 3 },
    // Its type does not know that it is one of a stream.
    ...{ highWaterMark: PIECES_HELD * PIECE_BYTES },
  });
  async function save(pieces: AsyncIterable<Buffer>): Promise<void> {
    let unsynced = 0;
    let syncing: Promise<void> | undefined;
    for await (const piece of pieces) {
      await handle?.writeFile(piece);
      unsynced += piece.length;
      if (unsynced > UNSYNCED_BYTES) {
        await syncing;
        syncing = handle?.datasync();
        // It is thrown where the next one waits for it.
        syncing?.catch(() => undefined);
        unsynced = 0;
      }
      // Of one buffer after the other the compression fills all.
      if (recipients.length === 0) release(piece, true);
    }
    await syncing;
    await handle?.sync();
    await handle?.close();
  }
  let failed: unknown;
  compressed.on('error', (error) => {
    failed ??= error;
  });
  const done = encrypted(compressed, recipients)
    .then((sealed) => (handle ? pipeline(sealed, save) : pipeline(sealed, process.stdout, { end: false })))
    .catch((error: unknown) => {
      failed ??= error;
      compressed.destroy();
    });
  const all = createHash('sha256');
  let lines: string[] = [];
  let held = 0;
  let parts = 0;
  let entries = 0;
  let bytes = 0;
  async function put(piece: Buffer): Promise<void> {
    if (failed) throw failed;
    if (piece.length === 0 || compressed.write(piece, (error) => error ?? release(piece, false))) return;
    await Promise.race([new Promise((resolve) => compressed.once('drain', resolve)), done]);
    if (failed) throw failed;
  }
  async function addPlain(name: string, size: number, pieces: Pieces): Promise<string> {
    const hash = createHash('sha256');
    await put(tarHead(name, size, time));
    let left = size;
    for await (const piece of pieces) {
      left -= piece.length;
      if (left < 0) break;
      hash.update(piece);
      await put(piece);
    }
    if (left !== 0) throw new Error(`${name} changed its size of ${size} bytes while it was read`);
    await put(tarTail(size));
    return hash.digest('hex');
  }
  async function list(line: string, listed: Listed, isLent: boolean): Promise<void> {
    lines.push(line);
    held += line.length;
    if (isLent && isLendable(parseEntry(listed.name))) await index?.add(listed);
    if (held > MANIFEST_PART) await flushManifest();
  }
  async function flushManifest(): Promise<void> {
    const text = Buffer.from(lines.join(''));
    all.update(text);
    [lines, held] = [[], 0];
    await addPlain(`manifest/${String(parts++).padStart(6, '0')}`, text.length, [text]);
  }
  if (draft !== undefined) index = await startIndex(target, first);
  return {
    async add(name, size, pieces, isWhole = () => true) {
      const listed = { name, size, sha256: await addPlain(name, size, pieces) };
      entries += 1;
      bytes += size;
      await list(manifestLine(listed), listed, isWhole(listed.sha256));
      return listed.sha256;
    },
    borrow: (listed) => list(borrowedLine(listed), listed, true),
    endTable: async (table, count) => index?.endTable(table, count),
    endRows: flushManifest,
    bytes: () => bytes,
    async finish() {
      await flushManifest();
      const end: End = { entries, bytes, sha256: all.digest('hex') };
      const text = Buffer.from(JSON.stringify(end));
      await addPlain('end.json', text.length, [text]);
      await put(tarEnd());
      compressed.end();
      await done;
      if (failed) throw failed;
      if (draft !== undefined) {
        // The index first: without its backup it lists what nobody borrows.
        await index?.finish();
        await rename(draft, target);
        await syncFolder(dirname(target));
      }
      return end;
    },
    async discard() {
      failed ??= new Error('the backup was given up');
      compressed.destroy();
      await done;
      await handle?.close().catch(() => undefined);
      await index?.discard();
      if (draft !== undefined) await rm(draft, { force: true });
    },
  };
}
