/** Takes the portable PDBs out of a package of symbols, in bounded time, memory and room. */
import type { Readable } from 'node:stream';
import type { ZipFile } from 'yauzl';
import {
  ArchiveError,
  asArchiveError,
  findEntries,
  openEntry,
  withZipFile,
} from '../../../platform/archives/zip-file.ts';
import type { Blobs, Draft } from '../../../platform/blobs/blobs.ts';
import { badRequest } from '../../../platform/failure.ts';
import { startDigest } from '../../../platform/secret.ts';
import type { Arrived } from '../publishing/receive.ts';
import { HEAD_BYTES, readPdbHead } from './portable-pdb.ts';

const MAX_SYMBOLS = 100;
/** Of all in one package. */
const MAX_BYTES = 268_435_456;
const FILE_NAME = /(?:^|\/)([^/\\\p{Cc}]{1,251}\.pdb)$/iu;

export type Symbols = Arrived & { name: string; signature: string; checksum: Buffer };

/** The pieces, of which the first has as many bytes as the head of a PDB, or all. */
async function* headFirst(content: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  let head: Buffer | undefined = Buffer.alloc(0);
  for await (const piece of content) {
    if (head) head = Buffer.concat([head, piece]);
    if (head && head.length < HEAD_BYTES) continue;
    yield head ?? piece;
    head = undefined;
  }
  if (head) yield head;
}

/** Writes the PDB into the draft; undefined for what is none that debuggers find by a signature. */
async function take(
  content: Readable,
  draft: Draft,
): Promise<Pick<Symbols, 'signature' | 'checksum'> | undefined> {
  const digest = startDigest();
  let signature: string | undefined;
  for await (const piece of headFirst(content)) {
    const head = signature === undefined ? readPdbHead(piece.subarray(0, HEAD_BYTES)) : undefined;
    if (signature === undefined && !head) return undefined;
    if (head) {
      signature = head.signature;
      digest.update(head.blank).update(piece.subarray(head.blank.length));
    } else digest.update(piece);
    await draft.write(piece);
  }
  return signature === undefined ? undefined : { signature, checksum: digest.digest() };
}

async function takeAll(zip: ZipFile, blobs: Pick<Blobs, 'draft'>, taken: Symbols[]): Promise<void> {
  const entries = await findEntries(zip, (path) => FILE_NAME.test(path), MAX_SYMBOLS + 1);
  if (entries.length > MAX_SYMBOLS) throw badRequest(`package has more than ${MAX_SYMBOLS} .pdb files`);
  let left = MAX_BYTES;
  for (const entry of entries) {
    const content = await openEntry(zip, entry, { bytes: left, text: `what is left of ${MAX_BYTES} bytes` });
    left -= entry.uncompressedSize;
    const draft = await blobs.draft();
    let keeping = false;
    try {
      const found = await take(content, draft);
      if (!found) continue;
      const name = FILE_NAME.exec(entry.fileName)?.[1] ?? '';
      taken.push({ ...(await draft.finish()), draft, name, ...found });
      keeping = true;
    } finally {
      content.destroy();
      if (!keeping) await draft.discard();
    }
  }
}

/**
 * Calls `use` with the portable PDBs of the archive on disk; they are gone afterwards unless `use` has kept them. 400 for an
 * archive that cannot be read, and for one that has too many or too much of them.
 */
export async function withSymbols<T>(
  path: string,
  blobs: Pick<Blobs, 'draft'>,
  use: (symbols: readonly Symbols[]) => Promise<T>,
): Promise<T> {
  const taken: Symbols[] = [];
  try {
    await withZipFile(path, (zip) => takeAll(zip, blobs, taken)).catch((thrown: unknown) => {
      const error = asArchiveError(thrown);
      throw error instanceof ArchiveError ? badRequest(`package: ${error.message}`) : error;
    });
    return await use(taken);
  } finally {
    for (const { draft } of taken) await draft.discard();
  }
}
