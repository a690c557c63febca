/** Takes the bytes of blobs: whole ones, and chunks of uploads. Nothing has a name before its digest is known. */
import type { Readable } from 'node:stream';
import type { Needs } from '../../../kernel/services.ts';
import type { Blobs, Draft, Received } from '../../../platform/blobs/blobs.ts';
import { receiveRaw } from '../../../platform/http/bodies/raw-file.ts';
import type { HttpRequest } from '../../../platform/http/messages.ts';
import { type Digest, parseDigest, sha256Digest } from '../names/rules.ts';
import { RegistryError } from '../refusals/errors.ts';
import { addChunk, finishBlob } from './actions.ts';
import { type Chunk, selectChunks, type UploadRow } from './queries.ts';

type UploadServices = Needs<'database' | 'blobs'>;

/** Requests that one upload may be in. */
const MAX_CHUNKS = 10_000;

export const hasBody = ({ headers }: Pick<HttpRequest, 'headers'>): boolean =>
  headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0;

export function requireDigest(text: string | null): Digest & { text: string } {
  const digest = text === null ? undefined : parseDigest(text);
  if (!digest || text === null)
    throw new RegistryError('DIGEST_INVALID', 'the digest is no sha256 or sha512 digest');
  return { ...digest, text };
}

export function requireSame(digest: Digest, { sha256, digests }: Pick<Received, 'sha256' | 'digests'>): void {
  const computed = digest.algorithm === 'sha256' ? sha256 : digests.get(digest.algorithm);
  if (!computed?.equals(digest.bytes))
    throw new RegistryError('DIGEST_INVALID', 'the content has another digest than the one that was given');
}

const receiveInto = (draft: Draft, body: Readable): Promise<number> =>
  receiveRaw(body, { maximum: Number.POSITIVE_INFINITY, write: (piece) => draft.write(piece) });

async function withDraft<T>(
  blobs: Blobs,
  { algorithm }: Pick<Digest, 'algorithm'>,
  work: (draft: Draft) => Promise<T>,
): Promise<T> {
  const draft = await blobs.draft(algorithm === 'sha256' ? [] : [algorithm]);
  try {
    return await work(draft);
  } finally {
    await draft.discard();
  }
}

/** Takes the body as a whole blob of this digest. */
export const receiveWhole = (
  { database: { db }, blobs }: UploadServices,
  repositoryId: number,
  digest: Digest & { text: string },
  body: Readable,
): Promise<void> =>
  withDraft(blobs, digest, async (draft) => {
    await receiveInto(draft, body);
    const received = await draft.finish();
    requireSame(digest, received);
    const { sha256, size } = received;
    await finishBlob(db, repositoryId, { keep: draft.keep, digest: digest.text, sha256, size });
  });

/**
 * Takes the body as the next chunk, which begins where the upload ends; the size of the upload then. Undefined where another
 * request was faster. SIZE_INVALID unless it has `length` bytes, if given.
 */
export const receiveChunk = (
  { database: { db }, blobs }: UploadServices,
  upload: UploadRow,
  body: Readable,
  length: number | undefined,
): Promise<number | undefined> =>
  withDraft(blobs, { algorithm: 'sha256' }, async (draft) => {
    if (upload.chunks >= MAX_CHUNKS)
      throw new RegistryError('BLOB_UPLOAD_INVALID', `more than ${MAX_CHUNKS} chunks`);
    await receiveInto(draft, body);
    const { sha256, size } = await draft.finish();
    if (length !== undefined && size !== length)
      throw new RegistryError('SIZE_INVALID', 'the chunk has another length than its Content-Range');
    if (size === 0) return upload.size;
    const name = draft.leave();
    const chunk = { start: upload.size, size, sha256, draft: name };
    if (await addChunk(db, upload, chunk)) return upload.size + size;
    await discardChunks(blobs, [chunk]);
    return undefined;
  });

export async function discardChunks(blobs: Blobs, chunks: readonly Chunk[]): Promise<void> {
  for (const { draft, sha256 } of chunks) await (await blobs.left(draft, sha256))?.discard();
}

/** Another request ended the upload meanwhile. */
const isGone = (): RegistryError =>
  new RegistryError('BLOB_UPLOAD_UNKNOWN', 'what had arrived of this upload is gone');

async function openChunk(blobs: Blobs, { draft, sha256 }: Chunk) {
  const left = await blobs.left(draft, sha256);
  if (!left) throw isGone();
  return left;
}

async function copyChunk(blobs: Blobs, chunk: Chunk, draft: Draft): Promise<void> {
  const pieces = (await openChunk(blobs, chunk)).read()[Symbol.asyncIterator]();
  for (;;) {
    const next = await pieces.next().catch((error: { code?: unknown }) => {
      throw error.code === 'ENOENT' ? isGone() : error;
    });
    if (next.done) return;
    await draft.write(next.value);
  }
}

/** Ends an upload, whose last chunk the body may be: its chunks become the blob of this digest. */
export async function finishUpload(
  { database: { db }, blobs }: UploadServices,
  upload: UploadRow,
  digest: Digest & { text: string },
  body: Readable | undefined,
): Promise<void> {
  const chunks = await selectChunks(db, upload.id);
  if (chunks.reduce((sum, { size }) => sum + size, 0) !== upload.size) throw isGone();
  const [only] = chunks;
  const { repository_id: repositoryId } = upload;
  if (only && chunks.length === 1 && !body && digest.algorithm === 'sha256') {
    const { size, sha256 } = only;
    requireSame(digest, { sha256, digests: new Map() });
    const { keep } = await openChunk(blobs, only);
    await finishBlob(db, repositoryId, { keep, digest: sha256Digest(sha256), sha256, size }, upload);
  } else
    await withDraft(blobs, digest, async (draft) => {
      for (const chunk of chunks) await copyChunk(blobs, chunk, draft);
      if (body) await receiveInto(draft, body);
      const received = await draft.finish();
      requireSame(digest, received);
      const { sha256, size } = received;
      await finishBlob(db, repositoryId, { keep: draft.keep, digest: digest.text, sha256, size }, upload);
    });
  await discardChunks(blobs, chunks);
}
